import type { Change, Step } from '../engine/step.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { fileChanges } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';

const MODULES = ['overlay', 'br_netfilter'] as const;

/**
 * Loads the modules that containers and Services need, now and after a reboot. The file also names modules that are built into
 * the kernel: the host may boot another kernel later.
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
