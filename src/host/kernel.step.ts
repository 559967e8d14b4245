import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { fileChanges } from './file.step.ts';
import { requiredSysctls, sysctlsOf } from './kernel.value.ts';

/** kube-proxy ends at its start where nf_conntrack_max is missing (kubernetes/kops #17915). */
export const MODULES = ['overlay', 'br_netfilter', 'nf_conntrack'] as const;

/**
 * Loads the modules that containers and Services need, now and after a reboot. The file also names modules that are
 * built into the kernel: the host may boot another kernel later.
 */
export const kernelModules: Step = {
  name: 'kernel-modules',
  watches: { files: [paths.modulesLoad] },
  diff: (target) => {
    const { host, facts } = target;
    const content = `${OWN_HEADER}.\n${MODULES.join('\n')}\n`;
    return [
      ...fileChanges(target, { path: paths.modulesLoad, content }),
      ...MODULES.flatMap((module): readonly Change[] => {
        switch (facts.modules[module]) {
          case 'working':
            return [];
          case 'loadable':
            return [{ summary: `load ${module} (found not loaded)`, apply: runs(host, sh`modprobe -- ${module}`) }];
          case 'missing':
            return [{ summary: `load ${module} (the kernel does not have it)` }];
        }
      }),
    ];
  },
};

/** Settings that the kernel does not have, or that have no value: of the inventory's, the check `sysctls` warns. */
const NOT_SETTABLE: ReadonlySet<string> = new Set(['absent', 'unreadable']);

/** Adds to the summary the settings that leave the file. kbuild does not know their values from before. */
function withRemoved({ facts }: Target, wanted: ReadonlyMap<string, string>, change: Change): Change {
  const removed = facts.sysctlSettings
    .filter(({ file, name }) => file === paths.sysctl && !wanted.has(name))
    .map(({ name }) => name);
  return removed.length === 0
    ? change
    : {
        ...change,
        summary: `${change.summary}; the kernel keeps ${removed.join(', ')} until the next boot`,
      };
}

/** Sets the kernel settings that Services need and those of the inventory, now and after a reboot. */
export const sysctls: Step = {
  name: 'sysctls',
  watches: { files: [paths.sysctl] },
  diff: (target) => {
    const { host, facts } = target;
    const wanted = new Map(sysctlsOf(host));
    const required = requiredSysctls(host);
    const lines = [...wanted].map(([name, value]) => `${name} = ${value}`);
    const content = lines.length === 0 ? undefined : `${OWN_HEADER}.\n${lines.join('\n')}\n`;
    const off = [...wanted].filter(([name, value]) => {
      const found = facts.sysctls[name]!;
      return found !== value && (name in required || !NOT_SETTABLE.has(found));
    });
    const settings = off.map(([name, value]) => `${name}=${value} (found ${facts.sysctls[name]!})`);
    return [
      ...fileChanges(target, { path: paths.sysctl, content }).map((change) => withRemoved(target, wanted, change)),
      ...(off.length === 0
        ? []
        : [
            {
              summary: `set ${settings.join(', ')}`,
              // Unlike procps it is on every host with systemd, and it reads the file as at boot.
              apply: runs(host, sh`/usr/lib/systemd/systemd-sysctl ${paths.sysctl}`),
            },
          ]),
    ];
  },
};
