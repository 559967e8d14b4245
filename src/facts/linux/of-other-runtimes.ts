import { CONTAINER_RUNTIMES, containerRuntime, type ContainerRuntime } from '../../components/runtimes/index.ts';
import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { probe, unexpected, type Asked, type Probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { using } from '../../templates.ts';

/** Begins the answer about a runtime. */
const MARK = '# runtime ';

/** What a host is asked about one runtime. */
interface Question {
  /** Shell: whether the host is asked at all. It may use the variables of serving-runtime.sh. */
  readonly where: string;
  /** Shell that prints the answer. */
  readonly ask: string;
}

/** A fact about each runtime that the inventory does not name for the host, where the condition of its question holds. */
export function ofOtherRuntimes<T>(
  inventory: Inventory,
  title: string,
  questionOf: (runtime: ContainerRuntime) => Question,
  parse: (answer: string, runtime: ContainerRuntime, asked: Asked) => T,
): Probe<ReadonlyMap<RuntimeName, T>> {
  const wanted = containerRuntime(inventory);
  const others = CONTAINER_RUNTIMES.filter((runtime) => runtime !== wanted);
  const parts = others.map((runtime) => {
    const { where, ask } = questionOf(runtime);
    return [`if ${where}; then`, `echo ${quote(`${MARK}${runtime.name}`)}`, ask, 'fi'].join('\n');
  });
  const command = using('linux/serving-runtime.sh', { shell: 'sh', script: parts.join('\n'), title });
  return probe(
    command,
    (out, asked) =>
      new Map(
        `\n${out}`
          .split(`\n${MARK}`)
          .slice(1)
          .map((answer) => {
            const [name = '', ...rest] = answer.split('\n');
            const runtime = others.find((other) => other.name === name);
            if (runtime === undefined) throw unexpected(name);
            return [runtime.name, parse(rest.join('\n'), runtime, asked)];
          }),
      ),
  );
}
