import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import { isOfImage } from './packages/distributions.value.ts';

const writablePaths = eachHost(
  {
    name: 'writable-paths',
    title: 'nothing that matters is mounted read-only',
    why:
      '`mount -o remount,rw PATH`; a file system that the kernel made read-only after an error wants `fsck` ' +
      'first (`dmesg` tells).',
    severities: ['error'],
  },
  ({ facts }) => {
    const points = new Map<string, string[]>();
    for (const { path, mountPoint, readOnly } of facts.storage)
      if (readOnly && !isOfImage(facts, path)) points.set(mountPoint, [...(points.get(mountPoint) ?? []), path]);
    return [...points].map(([point, paths]) => ({
      severity: 'error',
      message: `${point} is mounted read-only, and ${paths.join(', ')} must be written`,
      remedy: `mount -o remount,rw ${point}; if the kernel made it read-only, check the disk first (dmesg)`,
    }));
  },
);

/** What runs below a path: nothing of kbuild's, Kubernetes' or the runtime's is run in /tmp or /var/log. */
const RUN_FROM: readonly (readonly [path: string, what: string])[] = [
  ['/usr', 'the programs of Kubernetes and of the runtime'],
  ['/opt', 'the plugins of the pod network (/opt/cni/bin)'],
  ['/var/lib/kubelet', 'what pods run from their volumes, and on /var kubeadm of the next version at an upgrade'],
];

const executablePaths = eachHost(
  {
    name: 'executable-paths',
    title: 'programs may run from /usr, /opt and /var/lib',
    why:
      'Hardening guides mount /var, /opt and /tmp with `noexec`. The runtime runs the plugins of the pod network ' +
      'from `/opt/cni/bin`: with `noexec` no pod gets an address. Below `/var/lib` pods run what lies in their ' +
      'volumes, and `upgrade` runs the next kubeadm from `/var/lib/kbuild`. `/tmp` may have it: nothing is run ' +
      'there. `mount -o remount,exec PATH`, and take `noexec` out of /etc/fstab; or mount a file system of its own.',
    severities: ['error', 'warning'],
  },
  ({ facts, host }) =>
    facts.storage.flatMap(({ path, mountPoint, noExec }): readonly HostFinding[] => {
      const [, what] = RUN_FROM.find(([from]) => from === path) ?? [];
      if (!noExec || what === undefined || host.role === 'load-balancer') return [];
      return [
        {
          severity: path === '/var/lib/kubelet' ? 'warning' : 'error',
          message: `${mountPoint} is mounted noexec, and ${what} would not run`,
          remedy: `mount -o remount,exec ${mountPoint}, and take noexec out of its line in /etc/fstab`,
        },
      ];
    }),
);

export const mountChecks: CheckGroup = { host: [writablePaths, executablePaths] };
