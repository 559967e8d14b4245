import type { Command } from '../shell/command.ts';
import { onceForEach } from '../shell/once-for-each.ts';
import { quote, sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import type { Answer } from './facts-from.ts';

/** Seconds that one probe has at least: a hung mount must not cost the other facts. */
const PROBE_SECONDS = 20;

/** In seconds. `probe`: what each probe has at least. `batch`: after it a batch starts no further probe. */
interface Deadlines {
  readonly probe: number;
  readonly batch: number;
}

const RUN = script('linux/probes.sh', { BATCH: script('linux/probe-batch.sh').script }).script;

/** A command as one quoted word; most commands are the same for every host. */
const argumentOf = onceForEach(({ script }: Command<'sh'>) => quote(script));

/**
 * One script that runs every command and frames each output with a nonce that no output can guess. All run in one shell
 * under one deadline; a command that hangs costs itself alone.
 */
export function framedScript(
  commands: Readonly<Record<string, Command<'sh'>>>,
  nonce: string,
  { probe, batch }: Deadlines = { probe: PROBE_SECONDS, batch: 5 },
): Command<'sh'> {
  const words = Object.entries(commands).flatMap(([name, command]) => [quote(name), argumentOf(command)]);
  const limits = [`ENOUGH=${String(batch)}`, `LONGEST=${String(batch + probe)}`];
  const parameters = [`NONCE=${nonce}`, ...limits, `set -- ${words.join(' ')}`];
  return {
    shell: 'sh',
    script: `${parameters.join('\n')}\n${RUN}`,
    title: `observe (${String(Object.keys(commands).length)} probes)`,
  };
}

/**
 * Like `framedScript`, but runs all commands at once: for commands that spend most of their time waiting for another process.
 * Their output lies in a folder of /run until all have ended. `seconds`: how long each may take.
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
    `q() { s=0; timeout -k 1 ${String(seconds)} sh -c "$2" </dev/null >"$d/$1.out" 2>"$d/$1.err" || s=$?; echo "$s" >"$d/$1.status"; }`,
    `p() { s=$(cat "$d/$1.status"); printf '%s\\n' ${nonce}:begin:"$1"; cat "$d/$1.out"; printf '\\n%s\\n' ${nonce}:end:"$1":"$s"`,
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

/** The answers in the output of a framed script. A name that is missing there was not answered. `seconds`: how long each had. */
export function readFrames(
  stdout: string,
  stderr: string,
  nonce: string,
  seconds: number = PROBE_SECONDS,
): Readonly<Record<string, Answer>> {
  // Most scripts have no failed command, and all their stderr would be searched for nothing.
  let errors: ReturnType<typeof frames> | undefined;
  const answers: Record<string, Answer> = {};
  for (const [name, { text, status }] of frames(stdout, nonce)) {
    if (status === 0) answers[name] = { stdout: text };
    else {
      const why =
        status === 124 || status === 137 ? `no answer within ${String(seconds)} s` : `status ${String(status)}`;
      errors ??= frames(stderr, nonce);
      const detail = errors.get(name)?.text.trim().split('\n').slice(-3).join(' ') ?? '';
      answers[name] = { failed: detail === '' ? why : `${why}: ${detail}` };
    }
  }
  return answers;
}
