import { windowsPaths } from '../../paths.ts';
import { eachWindowsHost } from '../each-host.ts';

const PROGRAM = 'containerd.exe';
const PATH = `${windowsPaths.containerd}\\${PROGRAM}`;

export const windowsDefender = eachWindowsHost(
  {
    name: 'windows-defender',
    title: 'Defender leaves containerd alone, where it runs',
    why: 'Defender looks into every file that containerd unpacks: images of Windows are gigabytes, and their first start takes minutes longer. Nothing breaks, so this is only a warning; kbuild changes nothing about Defender, because excluding a program is a decision of your security people.',
    severities: ['warning'],
  },
  ({ facts }) => {
    if (facts.defender === 'absent' || facts.defender === 'off') return [];
    const excluded = facts.defender.map((name) => name.toLowerCase());
    if ([PROGRAM, PATH].some((name) => excluded.includes(name.toLowerCase()))) return [];
    return [
      {
        severity: 'warning',
        message: `Defender looks into every file that ${PROGRAM} unpacks`,
        remedy: `Add-MpPreference -ExclusionProcess '${PATH}'`,
      },
    ];
  },
);
