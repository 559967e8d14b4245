import { runtimeFiles } from '../../components/runtimes/index.ts';
import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import { lines, unexpected, type Probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { ofOtherRuntimes } from './of-other-runtimes.ts';

/**
 * The files that kbuild wrote for each runtime that the inventory does not name for the host, of those whose configuration is
 * kbuild's: Kubernetes used them here before.
 */
export const formerRuntimes = onceForEach((inventory: Inventory): Probe<ReadonlyMap<RuntimeName, readonly string[]>> =>
  ofOtherRuntimes(
    inventory,
    'files of former runtimes',
    (runtime) => {
      const { backup, config } = runtime.paths;
      const files = script('linux/probe-own-files.sh', {
        HEADER: OWN_HEADER,
        MARKED: runtimeFiles(runtime),
        NAMES: backup === undefined ? [] : [backup],
      });
      return {
        where: `grep -qsF -- ${quote(OWN_HEADER)} ${quote(config)}`,
        ask: `${files.script}\n${runtime.ownRegistryFiles.script}`,
      };
    },
    (answer) => {
      const files = lines(answer);
      if (files.some((path) => !path.startsWith('/'))) throw unexpected(files.join(' '));
      return files;
    },
  ),
);
