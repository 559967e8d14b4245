import { writersOf } from '../../facts/windows/writers.ts';
import { programFolders, windowsPaths } from '../../paths.ts';
import { eachWindowsHost } from '../each-host.ts';

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

export const windowsSecrets = eachWindowsHost(
  {
    name: 'windows-secrets',
    title: 'only administrators can read Secrets on a Windows host, and write to the folders of its programs',
    why: 'Windows has no tmpfs: Secrets of pods lie on the disk in clear, below `C:\\var\\lib\\kubelet`. Encrypt the drive with BitLocker, and give only administrators and SYSTEM access to the folder. SYSTEM runs the programs in `C:\\k` and `C:\\opt\\cni\\bin`: a user who can write there becomes an administrator.',
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
