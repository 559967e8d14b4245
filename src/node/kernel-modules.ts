import type { Change, Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { fileChanges, OURS } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';

const MODULES = ['overlay', 'br_netfilter'] as const;

/**
 * The modules that containers and Services need, now and after a reboot. What is built into the kernel works already;
 * it is named in the file all the same, because another kernel may be booted later and loading it is then harmless.
 */
export const kernelModules: Step = {
  name: 'kernel-modules',
  watches: { files: [paths.modulesLoad] },
  diff: (target) => {
    const { host, facts } = target;
    const content = `${OURS}.\n${MODULES.join('\n')}\n`;
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
