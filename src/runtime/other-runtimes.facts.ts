import type { Inventory, RuntimeName } from '../inventory/inventory.ts';
import { OWN_HEADER } from '../paths.ts';
import { onceForEach } from '../shell/memo.ts';
import { type Asked, lines, probeInPlace, type Probe, unexpected } from '../shell/probe.ts';
import { quote } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { CONTAINER_RUNTIMES, containerRuntime, type ContainerRuntime, runtimeFiles } from './runtimes.value.ts';
import { sharedFiles, type SharedFiles } from './settings-file.value.ts';

/** Begins the answer about a runtime. */
const MARK = '# runtime ';

/** A probe of a host about one runtime. */
interface Question {
  /** A shell condition: the host runs the probe only if it is true. It may use the variables of serving-runtime.sh. */
  readonly where: string;
  /** Shell that prints the answer. */
  readonly ask: string;
}

/**
 * A fact about each runtime that the inventory does not name for the host, where the condition of its question holds.
 */
function ofOtherRuntimes<T>(
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
  const script = parts.join('\n');
  const command = { shell: 'sh', script, title } as const;
  return probeInPlace(
    script.includes('$runtime_serving') ? using('runtime/serving-runtime.sh', command) : command,
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

/**
 * The files that kbuild wrote for each runtime that the inventory does not name for the host, of those whose
 * configuration is kbuild's: Kubernetes used them here before.
 */
export const formerRuntimes = onceForEach((inventory: Inventory): Probe<ReadonlyMap<RuntimeName, readonly string[]>> =>
  ofOtherRuntimes(
    inventory,
    'files of former runtimes',
    (runtime) => {
      const { backup, config } = runtime.paths;
      const files = script('host/probe-own-files.sh', {
        HEADER: OWN_HEADER,
        MARKED: runtimeFiles(runtime),
        NAMES: backup === undefined ? [] : [backup],
      });
      return {
        where: `[ -e ${quote(config)} ] && grep -qsF -- ${quote(OWN_HEADER)} ${quote(config)}`,
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

/** Settings that a runtime shares with its administrator, where kbuild's are still among them. */
interface FormerSettings extends SharedFiles {
  /** The permissions of the file; undefined if it is gone. */
  readonly mode: number | undefined;
}

/**
 * The settings of each runtime that the inventory does not name for the host, where kbuild's record of them is there.
 */
export const formerSettings = onceForEach((inventory: Inventory): Probe<ReadonlyMap<RuntimeName, FormerSettings>> =>
  ofOtherRuntimes(
    inventory,
    'settings of former runtimes',
    ({ shared }) => ({
      where: shared === undefined ? 'false' : `[ -e ${quote(shared.record)} ]`,
      ask:
        shared === undefined
          ? ':'
          : `stat -c %a ${quote(shared.path)} 2>/dev/null || echo gone\n${sharedFiles(shared).command.script}`,
    }),
    (answer, { shared }, asked) => {
      const [, mode = '', rest = ''] = /^(gone|[0-7]{1,4})\n([\s\S]*)$/.exec(answer) ?? [];
      if (mode === '') throw unexpected(answer);
      const found = sharedFiles(shared).parse(rest, asked);
      return { ...found, mode: mode === 'gone' ? undefined : Number.parseInt(mode, 8) };
    },
  ),
);

/**
 * Running containers, counted by namespace, of each runtime that is not the inventory's and that the host's kubelet
 * uses, or that has kbuild's configuration: one that the host changes from. Where the probe of one fails, the fact is
 * unknown.
 */
export const otherContainers = onceForEach(
  (inventory: Inventory): Probe<ReadonlyMap<RuntimeName, ReadonlyMap<string, number>>> =>
    ofOtherRuntimes(
      inventory,
      'containers of other runtimes',
      ({ socket, paths, probes }) => ({
        where:
          `[ "$runtime_serving" = ${quote(socket)} ] || { [ -e ${quote(paths.config)} ] && grep -qsF -- ` +
          `${quote(OWN_HEADER)} ${quote(paths.config)}; }`,
        ask: probes.containers.command.script,
      }),
      (answer, { probes }, asked) => probes.containers.parse(answer, asked),
    ),
);
