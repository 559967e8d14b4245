import { FactError } from '../../errors.ts';
import type { Command } from '../../shell/command.ts';
import { onceForEach } from '../../shell/memo.ts';
import type { Asked, Probe } from '../../shell/probe.ts';
import { quote, sh } from '../../shell/sh.ts';
import { excerpt } from '../../shell/text.ts';
import { script } from '../../templates.ts';

/** The facts that a table of probes yields. */
export type FactsOf<P> = {
  // By `parse` alone: the command is invariant in its shell, so no `Probe<T, Shell>` is a supertype of them all.
  readonly [K in keyof P]: P[K] extends { readonly parse: (stdout: string, asked: Asked) => infer T } ? T : never;
};

/** The result of one probe: its output, or why there is none. */
export type Answer = { readonly stdout: string } | { readonly failed: string };

/** Characters that one probe of a host may answer. The lists of the largest hosts take a tenth of it. */
const MOST_CHARACTERS = 1024 * 1024;

/** The same of a probe that prints lists of the whole cluster: what the transport takes at most. */
export const MOST_OF_CLUSTER = 64 * 1024 * 1024;

/** Characters of a reason that a fact could not be read: a few lines of a program's errors. */
const MOST_OF_REASON = 600;

/**
 * Facts of a host. Reading a fact whose probe failed, timed out or could not be parsed throws `FactError`: unknown is
 * never absent. `most`: characters that a probe may answer; a longer answer is none.
 */
export function factsFrom<P extends Readonly<Record<string, Pick<Probe<unknown>, 'parse'>>>>(
  host: string,
  probes: P,
  answers: Readonly<Record<string, Answer>>,
  asked: Asked,
  most: number = MOST_CHARACTERS,
): FactsOf<P> {
  const facts = {};
  for (const [name, { parse }] of Object.entries(probes)) {
    const answer = answers[name] ?? { failed: 'the host sent no answer' };
    let read: () => unknown;
    if ('failed' in answer) {
      read = () => {
        throw new FactError(host, name, excerpt(answer.failed, MOST_OF_REASON));
      };
    } else {
      const { stdout } = answer;
      let parsed: { readonly value: unknown } | undefined;
      // Parsed at the first read: most runs read a part of the facts.
      read = () => {
        try {
          if (stdout.length > most)
            throw new Error(`its answer has ${String(stdout.length)} characters, and at most ${String(most)} are read`);
          if (stdout.includes('\0')) throw new Error('its answer has a NUL character, which no text of a host has');
          parsed ??= { value: parse(stdout, asked) };
          return parsed.value;
        } catch (error) {
          throw new FactError(
            host,
            name,
            excerpt(error instanceof Error ? error.message : String(error), MOST_OF_REASON),
          );
        }
      };
    }
    Object.defineProperty(facts, name, { get: read, enumerable: true, configurable: true });
  }
  return facts as FactsOf<P>;
}

/** Seconds that one probe has at least: a hung mount must not cost the other facts. */
const PROBE_SECONDS = 20;

/** In seconds. `probe`: what each probe has at least. `batch`: after it a batch starts no further probe. */
interface Deadlines {
  readonly probe: number;
  readonly batch: number;
}

const RUN = script('cluster/probes.sh', { BATCH: script('cluster/probe-batch.sh').script }).script;

/** Lines that are comments: a shell reads the script of all probes for every host, and they are a tenth of it. */
const COMMENTS = /^[ \t]*#.*\n/gm;

/** A command as two words, how it is run and the quoted script; most commands are the same for every host. */
const argumentsOf = onceForEach(({ script, inPlace = false }: Command<'sh'>) =>
  inPlace ? `here ${quote(script.replaceAll(COMMENTS, ''))}` : `apart ${quote(script)}`,
);

/** Stands between the names of the facts that have one answer in common. */
const AND = ',';

/** The commands, each once, with the names of all facts that it is for. */
function askedOnce(commands: Readonly<Record<string, Command<'sh'>>>): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const [name, command] of Object.entries(commands)) {
    const words = argumentsOf(command);
    const known = names.get(words);
    if (known === undefined) names.set(words, [name]);
    else known.push(name);
  }
  return names;
}

/**
 * One script that runs every command and frames each output with a nonce that no output can guess. A text that several
 * facts have as their command runs once, for the first of them, and all get its answer or its failure. Commands run in
 * one shell under one deadline; a command that hangs or fails costs its own facts alone.
 */
export function framedScript(
  commands: Readonly<Record<string, Command<'sh'>>>,
  nonce: string,
  { probe, batch }: Deadlines = { probe: PROBE_SECONDS, batch: 5 },
): Command<'sh'> {
  const words = [...askedOnce(commands)].flatMap(([command, names]) => [quote(names.join(AND)), command]);
  const limits = [`ENOUGH=${String(batch)}`, `LONGEST=${String(batch + probe)}`];
  const parameters = [`NONCE=${nonce}`, ...limits, `set -- ${words.join(' ')}`];
  return {
    shell: 'sh',
    script: `${parameters.join('\n')}\n${RUN}`,
    title: `observe (${String(Object.keys(commands).length)} probes)`,
  };
}

/**
 * Like `framedScript`, but runs all commands at once: for commands that spend most of their time waiting for another
 * process. Their output lies in a folder of /run until all have ended. `seconds`: how long each may take.
 */
export function parallelFramedScript(
  commands: Readonly<Record<string, Command<'sh'>>>,
  nonce: string,
  seconds: number = PROBE_SECONDS,
): Command<'sh'> {
  const names = Object.keys(commands);
  const calls = Object.entries(commands).map(
    ([name, command]) => `${sh`q ${name} ${`set -eu; export LC_ALL=C\n${command.script}`}`.script} &`,
  );
  const text = [
    `d=$(mktemp -d -p /run kbuild-observe.XXXXXX); trap 'rm -rf "$d"' EXIT; trap 'exit 1' HUP INT TERM`,
    `q() { s=0; timeout -k 1 ${String(seconds)} sh -c "$2" </dev/null >"$d/$1.out" 2>"$d/$1.err" || s=$?; echo ` +
      '"$s" >"$d/$1.status"; }',
    `p() { s=$(cat "$d/$1.status"); printf '%s\\n' ${nonce}:begin:"$1"; cat "$d/$1.out"; printf '\\n%s\\n' ` +
      `${nonce}:end:"$1":"$s"`,
    `printf '%s\\n' ${nonce}:begin:"$1" >&2; cat "$d/$1.err" >&2; printf '\\n%s\\n' ${nonce}:end:"$1":"$s" >&2; }`,
    ...calls,
    'wait',
    ...names.map((name) => sh`p ${name}`.script),
  ].join('\n');
  return { shell: 'sh', script: text, title: `observe the cluster (${String(names.length)} probes)` };
}

/** Frames by name. Searched by the nonce alone: a pattern would be tried at every character of an output. */
function frames(text: string, nonce: string): ReadonlyMap<string, { readonly text: string; readonly status: number }> {
  const found = new Map<string, { text: string; status: number }>();
  const mark = `${nonce}:`;
  let open: { readonly name: string; readonly from: number } | undefined;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) {
    const lineBreak = text.indexOf('\n', at);
    const words = text.slice(at + mark.length, lineBreak === -1 ? text.length : lineBreak);
    if (words.startsWith('begin:') && lineBreak !== -1) open = { name: words.slice(6), from: lineBreak + 1 };
    const [, ended, status] = /^end:(.*):(\d+)$/.exec(words) ?? [];
    // The line break before the end is the frame's.
    if (ended !== undefined && open !== undefined && open.name === ended && at > open.from)
      found.set(ended, { text: text.slice(open.from, at - 1), status: Number(status) });
  }
  return found;
}

/** What `timeout -k` ends with at the end of its time: 124 or 137, and 125 that of uutils 0.0.30. */
const OUT_OF_TIME: ReadonlySet<number> = new Set([124, 125, 137]);

/**
 * The answers in the output of a framed script. A name that is missing there was not answered. `seconds`: how long each
 * had.
 */
export function readFrames(
  stdout: string,
  stderr: string,
  nonce: string,
  seconds: number = PROBE_SECONDS,
): Readonly<Record<string, Answer>> {
  // Most scripts have no failed command, and all their stderr would be searched for nothing.
  let errors: ReturnType<typeof frames> | undefined;
  const answers: Record<string, Answer> = {};
  for (const [names, { text, status }] of frames(stdout, nonce)) {
    let answer: Answer = { stdout: text };
    if (status !== 0) {
      const why = OUT_OF_TIME.has(status) ? `no answer within ${String(seconds)} s` : `status ${String(status)}`;
      errors ??= frames(stderr, nonce);
      const detail = errors.get(names)?.text.trim().split('\n').slice(-3).join(' ') ?? '';
      answer = { failed: detail === '' ? why : `${why}: ${detail}` };
    }
    for (const name of names.split(AND)) answers[name] = answer;
  }
  return answers;
}
