import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';

/** Paths of the files that kbuild distributed to the host because the inventory said so (`files:`), from its record there. */
export const distributedFiles = probe(
  sh`if [ -e ${paths.distributed} ]; then cat ${paths.distributed}; fi`,
  (out): readonly string[] => lines(out),
);
