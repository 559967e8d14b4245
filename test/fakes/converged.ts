import type { Step, Target } from '../../src/engine/step.ts';
import type { FileState } from '../../src/host/files.facts.ts';
import { sysctlsOf } from '../../src/host/kernel.value.ts';
import { apt } from '../../src/host/packages/debian-family.value.ts';
import type { PackageState } from '../../src/host/packages/package-manager.value.ts';
import { prepare } from '../../src/host/prepare.phases.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import type { Role } from '../../src/inventory/inventory.ts';
import { kubernetesPackages } from '../../src/kubeadm/packages.step.ts';
import { containerd } from '../../src/runtime/containerd.value.ts';
import { roleImages } from '../../src/runtime/images.step.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import type { FactOverrides } from './facts.ts';
import { fileWith, WRITTEN_MS } from './files.ts';
import { inventory as anInventory } from './inventory.ts';
import { recordingOn } from './on.ts';
import { type About, target } from './target.ts';

const installed = (version: string): PackageState => ({ state: 'installed', version, held: true });

const serving: ServiceState = {
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs: WRITTEN_MS + 1000,
  needsDaemonReload: false,
};

/** The files that steps write to the host of a target, as they are afterwards. */
export async function filesOf(steps: readonly Step[], seen: Target): Promise<ReadonlyMap<string, FileState>> {
  const { on, sent } = recordingOn();
  for (const change of steps.flatMap((step) => step.diff(seen)))
    // Keys come from a repository, and a fake host has none.
    if (change.summary.startsWith('write ') && !change.summary.includes(' with the key ')) await change.apply?.(on);
  return new Map(
    sent.flatMap((one) =>
      one.kind === 'write' ? [[one.path, fileWith(one.content, one.mode ?? 0o644)] as const] : [],
    ),
  );
}

/** Facts of a host on which `up` has done all that comes before kubeadm. */
export async function preparedFacts(seen: Target): Promise<FactOverrides> {
  const { inventory } = seen;
  const { kubernetes, runtime } = inventory;
  const wanted = prepare.find(({ name }) => name === 'hosts-file')!.diff(seen)[0]?.summary;
  const kubernetesVersion = installed(`${kubernetes.version}-1.1`);
  return {
    hostsBlock: /^write "(.*)" to/.exec(wanted ?? '')?.[1] ?? 'absent',
    modules: { overlay: 'working', br_netfilter: 'working', nf_conntrack: 'working' },
    sysctls: Object.fromEntries(sysctlsOf(seen.host)),
    files: await filesOf([...prepare, ...runtimeSteps(inventory), ...kubernetesPackages], seen),
    keyrings: new Map([
      [
        apt.repositoryFiles('containerd').keyring,
        { fingerprints: [runtime.repository.fingerprint], end: 'never', writtenMs: 0 },
      ],
      [
        apt.repositoryFiles('kubernetes').keyring,
        { fingerprints: [kubernetes.repository.fingerprint], end: 'never', writtenMs: 0 },
      ],
    ]),
    packages: new Map([
      [runtime.package, installed(`${runtime.version}-1~debian.12~bookworm`)],
      ['kubelet', kubernetesVersion],
      ['kubeadm', kubernetesVersion],
      ['kubectl', kubernetesVersion],
      ['kubernetes-cni', installed('1.8.0-1.1')],
      ['ca-certificates', { ...installed('20230311'), held: false }],
    ]),
    services: new Map([
      ['containerd', serving],
      ['kubelet', { ...serving, active: 'activating' }],
    ]),
    runtimeConfig: {
      cgroupDriver: runtime.cgroupDriver,
      sandboxImage: containerd.sandboxImage(inventory),
      criDisabled: false,
    },
    images: new Set(roleImages(seen)),
    criSockets: ['/run/containerd/containerd.sock'],
  };
}

/** The first host of a role, with all done that comes before kubeadm. */
export async function converged(role: Role, about: About = {}, overrides: FactOverrides = {}): Promise<Target> {
  const inventory = about.inventory ?? anInventory();
  const host = linuxHosts(inventory).find((one) => one.role === role)!.name;
  const fresh = target({}, { ...about, inventory, host });
  return target({ ...(await preparedFacts(fresh)), ...overrides }, { ...about, inventory, host });
}
