import { manifest, type Manifest } from '../engine/objects.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';

/**
 * Releases of Windows Server, with the value of their nodes' label `node.kubernetes.io/windows-build`. `supported`: by
 * Kubernetes; others only where the inventory admits them.
 */
export const RELEASES = [
  { release: '2019', build: '10.0.17763', supported: false },
  { release: '2022', build: '10.0.20348', supported: true },
  { release: '2025', build: '10.0.26100', supported: true },
] as const;

const runtimeClass = (name: string, handler: string, build: string): JsonObject => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
  handler,
  scheduling: {
    nodeSelector: {
      'kubernetes.io/os': 'windows',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/windows-build': build,
    },
    tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
  },
});

/**
 * One RuntimeClass for each release of Windows that is admitted: a container runs only on a host of the same build. If
 * a host has Hyper-V, also one with Hyper-V isolation (Kubernetes does not support it). Undefined without Windows
 * hosts.
 */
export function runtimeClassManifest(inventory: Inventory): Manifest | undefined {
  const hosts = windowsHosts(inventory);
  if (hosts.length === 0) return undefined;
  const isolated = hosts.some(({ windows }) => windows.hyperv === 'on');
  const admitsOthers = hosts.some(({ windows }) => windows.allowUnsupportedOs);
  return {
    title: 'RuntimeClasses of Windows',
    compare: 'fields',
    objects: RELEASES.filter(({ supported }) => supported || admitsOthers).flatMap(({ release, build }) => [
      runtimeClass(`windows-${release}`, 'runhcs-wcow-process', build),
      ...(isolated ? [runtimeClass(`windows-${release}-hyperv`, 'runhcs-wcow-hypervisor', build)] : []),
    ]),
  };
}

/** Applies the RuntimeClasses of Windows to the cluster. */
export const runtimeClasses = manifest('runtime-classes', runtimeClassManifest);
