import type { Inventory, JsonObject } from '../model/inventory.ts';
import { windowsHosts } from '../topology/select.ts';
import { manifest, type Manifest } from '../resources/manifest.ts';

/** Releases of Windows Server by what their nodes' label `node.kubernetes.io/windows-build` says. */
export const RELEASES = [
  { release: '2022', build: '10.0.20348' },
  { release: '2025', build: '10.0.26100' },
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
 * A RuntimeClass a release of Windows: containers run only on a host of their own build. Those with Hyper-V isolation,
 * which Kubernetes does not support, are there when a host has the feature. Undefined without Windows hosts.
 */
export function runtimeClassManifest(inventory: Inventory): Manifest | undefined {
  const hosts = windowsHosts(inventory);
  if (hosts.length === 0) return undefined;
  const isolated = hosts.some(({ windows }) => windows.hyperv === 'on');
  return {
    title: 'RuntimeClasses of Windows',
    compare: 'fields',
    objects: RELEASES.flatMap(({ release, build }) => [
      runtimeClass(`windows-${release}`, 'runhcs-wcow-process', build),
      ...(isolated ? [runtimeClass(`windows-${release}-hyperv`, 'runhcs-wcow-hypervisor', build)] : []),
    ]),
  };
}

/** RuntimeClasses of Windows in the cluster. */
export const runtimeClasses = manifest('runtime-classes', runtimeClassManifest);
