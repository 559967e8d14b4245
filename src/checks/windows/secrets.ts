import { windowsPaths } from '../../paths.ts';
import { eachWindowsHost } from '../each-host.ts';

/** Groups that contain ordinary users, by their SDDL abbreviation (source: Microsoft, "SID strings"). */
const GROUPS: Readonly<Record<string, string>> = {
  BU: 'every user',
  AU: 'every user',
  WD: 'everybody',
  IU: 'everybody at the console',
};

/** The ordinary users to whom these access rules give access; undefined if only administrators have it. */
function openTo(sddl: string): string | undefined {
  const allowed = [...sddl.matchAll(/\(A;[^;]*;[^;]*;[^;]*;[^;]*;([A-Z]{2})\)/g)].map(([, group]) => group!);
  return allowed.map((group) => GROUPS[group]).find((users) => users !== undefined);
}

export const windowsSecrets = eachWindowsHost(
  {
    name: 'windows-secrets',
    title: 'Secrets on a Windows host can only be read by those who may',
    why: 'Windows has no tmpfs: Secrets of pods lie on the disk in clear, below `C:\\var\\lib\\kubelet`. Encrypt the drive with BitLocker, and let nobody but administrators and SYSTEM into the folder.',
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
