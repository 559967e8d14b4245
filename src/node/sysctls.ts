import type { Step } from '../engine/step.ts';
import { REQUIRED_SYSCTLS, type SysctlName } from '../facts/linux/kernel.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { fileChanges } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';

const required = Object.entries(REQUIRED_SYSCTLS) as readonly (readonly [SysctlName, string])[];

/** Sets the kernel settings that Services need, now and after a reboot. */
export const sysctls: Step = {
  name: 'sysctls',
  watches: { files: [paths.sysctl] },
  diff: (target) => {
    const { host, facts } = target;
    const content = `${OWN_HEADER}.\n${required.map(([name, value]) => `${name} = ${value}`).join('\n')}\n`;
    const off = required.filter(([name, value]) => facts.sysctls[name] !== value);
    return [
      ...fileChanges(target, { path: paths.sysctl, content }),
      ...(off.length === 0
        ? []
        : [
            {
              summary: `set ${off.map(([name, value]) => `${name}=${value} (found ${facts.sysctls[name]})`).join(', ')}`,
              // Unlike procps it is on every host with systemd, and it reads the file as at boot.
              apply: runs(host, sh`/usr/lib/systemd/systemd-sysctl ${paths.sysctl}`),
            },
          ]),
    ];
  },
};
