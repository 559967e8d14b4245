import { basename } from 'node:path/posix';
import { REQUIRED_SYSCTLS, type SysctlName } from '../facts/linux/kernel.ts';
import { paths } from '../paths.ts';
import { eachHost } from './each-host.ts';

const OURS = basename(paths.sysctl);

export const sysctls = eachHost(
  {
    name: 'sysctls',
    title: 'forwarding and bridge filtering are on and stay on',
    why: `Services need both. \`up\` writes a file for them; a file that is read later and switches one off again must be mended by hand, because it wins at the next boot.`,
    severities: ['due', 'error'],
  },
  ({ facts }) => {
    const required = Object.entries(REQUIRED_SYSCTLS) as readonly (readonly [SysctlName, string])[];
    const off = required.filter(([name, value]) => facts.sysctls[name] !== value);
    const winning = facts.sysctlSettings.filter(
      ({ file, name, value }) => basename(file) > OURS && value !== REQUIRED_SYSCTLS[name],
    );
    return [
      ...winning.map(({ file, name, value }) => ({
        severity: 'error' as const,
        message: `${file} sets ${name}=${value} at boot, after kbuild's own file`,
        remedy: `take the line out of ${file}`,
      })),
      ...(off.length === 0
        ? []
        : [
            {
              severity: 'due' as const,
              message: off.map(([name]) => `${name} is ${facts.sysctls[name]}`).join(', '),
            },
          ]),
    ];
  },
);
