import { objectKey } from '../cluster/fleet/view.ts';
import { type Check, type CheckGroup, eachWindowsHost } from '../engine/check.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import { KUBEADMS_PROGRAMS } from '../kubeadm/coredns.ts';
import { programFolders, windowsPaths } from '../paths.ts';
import type { JsonObject } from '../shell/decode.ts';
import { writersOf } from './files.facts.ts';

/** Groups that contain ordinary users, by their SDDL abbreviation (source: Microsoft, "SID strings"). */
const GROUPS: Readonly<Record<string, string>> = {
  BU: 'every user',
  AU: 'every user',
  WD: 'Everyone',
  IU: 'every user at the console',
};

/** The users without administrator rights who have access by these rules; undefined if there are none. */
function openTo(sddl: string): string | undefined {
  const allowed = [...sddl.matchAll(/\(A;[^;]*;[^;]*;[^;]*;[^;]*;([A-Z]{2})\)/g)].map(([, group]) => group!);
  return allowed.map((group) => GROUPS[group]).find((users) => users !== undefined);
}

/** Folders with Secrets, keys and kubeconfigs. */
const SECRETS: readonly string[] = [windowsPaths.kubelet, windowsPaths.kubernetes];

const windowsSecrets = eachWindowsHost(
  {
    name: 'windows-secrets',
    title: 'only administrators can read Secrets on a Windows host, and write to the folders of its programs',
    why:
      'Windows has no tmpfs: Secrets of pods lie on the disk in clear, below `C:\\var\\lib\\kubelet`. Encrypt ' +
      'the drive with BitLocker, and give only administrators and SYSTEM access to the folder. SYSTEM runs the ' +
      'programs in `C:\\k` and `C:\\opt\\cni\\bin`: a user who can write there becomes an administrator.',
    severities: ['warning'],
    watches: { access: [...SECRETS, ...programFolders] },
  },
  ({ facts }) => [
    ...(facts.volume.bitLocker === 'on'
      ? []
      : [
          {
            severity: 'warning' as const,
            message: `the Secrets of its pods will lie on C: in clear, and BitLocker is ${facts.volume.bitLocker}`,
            remedy: 'Enable-BitLocker, or keep Secrets off Windows nodes',
          },
        ]),
    ...[...facts.access].flatMap(([path, sddl]) => {
      const open = SECRETS.includes(path) ? openTo(sddl) : undefined;
      return open === undefined
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `${open} may read ${path}`,
              remedy: `icacls ${path} /inheritance:d /remove:g *S-1-5-32-545 *S-1-5-11 *S-1-1-0`,
            },
          ];
    }),
    ...[...facts.access].flatMap(([path, sddl]) => {
      const writers = programFolders.includes(path) ? writersOf(sddl) : [];
      return writers.length === 0
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `${writers.join(', ')} may write to ${path}, whose programs SYSTEM runs`,
              remedy: `kbuild up gives the folder its access rules; before it does, find out what else is in ${path}`,
            },
          ];
    }),
  ],
);

interface Workload {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly nodeSelector?: Readonly<Record<string, string>>; readonly affinity?: object };
    };
  };
}

const OS = 'kubernetes.io/os';

/** True if the workload has a nodeSelector for Linux, or an affinity that names the operating system. */
function selectsLinux(live: JsonObject): boolean {
  const { nodeSelector, affinity } = (live as Workload).spec?.template?.spec ?? {};
  return nodeSelector?.[OS] === 'linux' || JSON.stringify(affinity ?? {}).includes(OS);
}

const windowsSelectors: Check = {
  name: 'windows-selectors',
  title: 'kube-proxy and CoreDNS of the cluster select Linux nodes, where there are Windows hosts',
  why:
    'kubeadm writes them so. If the selectors were changed, pods that never start are scheduled to Windows ' +
    'nodes, since kube-proxy tolerates every taint and CoreDNS some. `up` would wait for them in vain.',
  severities: ['error'],
  test: ({ inventory, fleet: { cluster } }) => {
    if (cluster.state !== 'up' || windowsHosts(inventory).length === 0) return [];
    return KUBEADMS_PROGRAMS.flatMap((program) => {
      const live = cluster.objects.get(objectKey(program));
      if (live === undefined || selectsLinux(live)) return [];
      const { kind, metadata } = program;
      const what = `${kind.toLowerCase()} ${metadata.name}`;
      return [
        {
          severity: 'error' as const,
          message: `the ${what} in ${metadata.namespace} does not select Linux nodes: Windows nodes would get its pods`,
          remedy:
            `kubectl -n ${metadata.namespace} patch ${what} --type merge -p ` +
            `'{"spec":{"template":{"spec":{"nodeSelector":{"${OS}":"linux"}}}}}'`,
        },
      ];
    });
  },
};

export const windowsClusterChecks: CheckGroup = { windows: [windowsSecrets], fleet: [windowsSelectors] };
