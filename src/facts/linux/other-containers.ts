import { CONTAINER_RUNTIMES, containerRuntime } from '../../components/runtimes/index.ts';
import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import { probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { using } from '../../templates.ts';

/** Begins the answer about a runtime. */
const MARK = '# runtime ';

/**
 * Running containers, counted by namespace, of each runtime that is not the inventory's and that the host's kubelet uses, or that has
 * kbuild's configuration: one that the host changes from. A runtime that does not answer makes the fact unknown.
 */
export const otherContainers = onceForEach((inventory: Inventory) => {
  const wanted = containerRuntime(inventory);
  const others = CONTAINER_RUNTIMES.filter((runtime) => runtime !== wanted);
  const parts = others.map(({ name, socket, paths, probes }) =>
    [
      `if [ "$runtime_serving" = ${quote(socket)} ] || grep -qsF -- ${quote(OWN_HEADER)} ${quote(paths.config)}; then`,
      `echo ${quote(`${MARK}${name}`)}`,
      probes.containers.command.script,
      'fi',
    ].join('\n'),
  );
  const command = using('linux/serving-runtime.sh', {
    shell: 'sh',
    script: parts.join('\n'),
    title: 'containers of other runtimes',
  });
  return probe(command, (out, asked): ReadonlyMap<RuntimeName, ReadonlyMap<string, number>> => {
    const answers = `\n${out}`.split(`\n${MARK}`).slice(1);
    return new Map(
      answers.map((answer) => {
        const [name = '', ...rest] = answer.split('\n');
        const runtime = others.find((other) => other.name === name);
        if (runtime === undefined) throw new Error(`unexpected output: ${name}`);
        return [runtime.name, runtime.probes.containers.parse(rest.join('\n'), asked)];
      }),
    );
  });
});
