import { windowsPaths } from '../../paths.ts';
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

export const windowsSecrets = eachWindowsHost(
  {
    name: 'windows-secrets',
    title: 'only administrators can read Secrets on a Windows host',
    why: 'Windows has no tmpfs: Secrets of pods lie on the disk in clear, below `C:\\var\\lib\\kubelet`. Encrypt the drive with BitLocker, and give only administrators and SYSTEM access to the folder.',
    severities: ['warning'],
    watches: { access: [windowsPaths.kubelet, windowsPaths.kubernetes] },
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
      const open = openTo(sddl);
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
  ],
);
