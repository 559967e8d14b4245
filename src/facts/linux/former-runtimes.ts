import { CONTAINER_RUNTIMES, containerRuntime, runtimeFiles } from '../../components/runtimes/index.ts';
import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import { lines, probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { script } from '../../templates.ts';

/** Begins the answer about a runtime. */
const MARK = '# runtime ';

/**
 * The files that kbuild wrote for each runtime that the inventory does not name for the host, of those whose configuration is
 * kbuild's: Kubernetes used them here before.
 */
export const formerRuntimes = onceForEach((inventory: Inventory) => {
  const wanted = containerRuntime(inventory);
  const others = CONTAINER_RUNTIMES.filter((runtime) => runtime !== wanted);
  const parts = others.map((runtime) => {
    const { backup, config } = runtime.paths;
    return [
      `if grep -qsF -- ${quote(OWN_HEADER)} ${quote(config)}; then`,
      `echo ${quote(`${MARK}${runtime.name}`)}`,
      script('linux/probe-own-files.sh', {
        HEADER: OWN_HEADER,
        MARKED: runtimeFiles(runtime),
        NAMES: backup === undefined ? [] : [backup],
      }).script,
      runtime.ownRegistryFiles.script,
      'fi',
    ].join('\n');
  });
  return probe(
    { shell: 'sh', script: parts.join('\n'), title: 'files of former runtimes' },
    (out): ReadonlyMap<RuntimeName, readonly string[]> =>
      new Map(
        `\n${out}`
          .split(`\n${MARK}`)
          .slice(1)
          .map((answer) => {
            const [name = '', ...rest] = answer.split('\n');
            const runtime = others.find((other) => other.name === name);
            if (runtime === undefined) throw new Error(`unexpected output: ${name}`);
            const files = lines(rest.join('\n'));
            if (files.some((path) => !path.startsWith('/'))) throw new Error(`unexpected output: ${files.join(' ')}`);
            return [runtime.name, files];
          }),
      ),
  );
});
