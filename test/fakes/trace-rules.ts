/**
 * The rules of Chrome's Trace Event Format ("Trace Event Format", Google, sections JSON Object Format, Complete Events, Instant
 * Events, Metadata Events), for the events that kbuild writes.
 */

interface Given {
  readonly [field: string]: unknown;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const METADATA: Readonly<Record<string, string>> = {
  process_name: 'name',
  process_labels: 'labels',
  process_sort_index: 'sort_index',
  thread_name: 'name',
  thread_sort_index: 'sort_index',
};

function faultsOfMetadata({ name, args }: Given): readonly string[] {
  const key = METADATA[String(name)];
  if (key === undefined) return [`unknown metadata ${String(name)}`];
  if (!isObject(args)) return [`${String(name)} without args`];
  return key === 'sort_index' ? (isCount(args[key]) ? [] : [`${String(name)} without a number`]) : isText(args[key]) ? [] : [`${String(name)} without a text`]; // prettier-ignore
}

function faultsOfEvent(event: unknown): readonly string[] {
  if (!isObject(event)) return ['no object'];
  const { ph, name, cat, ts, dur, pid, tid, s, args } = event;
  const own = [
    ...(isText(name) ? [] : ['no name']),
    ...(isCount(pid) && isCount(tid) ? [] : ['pid and tid are no numbers']),
    ...(args === undefined || isObject(args) ? [] : ['args are no object']),
  ];
  if (ph === 'M') return [...own, ...faultsOfMetadata(event)];
  const timed = [...own, ...(isText(cat) ? [] : ['no category']), ...(isCount(ts) ? [] : ['ts is no number of µs'])];
  if (ph === 'X') return [...timed, ...(isCount(dur) ? [] : ['dur is no number of µs'])];
  if (ph === 'i') return [...timed, ...(['g', 'p', 't'].includes(String(s)) ? [] : ['an instant without scope'])];
  return [...timed, `unknown phase ${String(ph)}`];
}

interface Complete {
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
}

/** Complete events of a thread that overlap without nesting. */
function overlaps(thread: string, events: readonly Complete[]): readonly string[] {
  const around: Complete[] = [];
  const faults: string[] = [];
  for (const one of events.toSorted((a, b) => a.ts - b.ts || b.dur - a.dur)) {
    while (around.length > 0 && around.at(-1)!.ts + around.at(-1)!.dur <= one.ts) around.pop();
    const outer = around.at(-1);
    if (outer !== undefined && outer.ts + outer.dur < one.ts + one.dur)
      faults.push(`${thread}: "${one.name}" overlaps "${outer.name}" without being part of it`);
    around.push(one);
  }
  return faults;
}

/** What is wrong with a trace; empty: nothing. `text`: its JSON. */
export function traceFaults(text: string): readonly string[] {
  const trace: unknown = JSON.parse(text);
  if (!isObject(trace) || !Array.isArray(trace['traceEvents'])) return ['no object with traceEvents'];
  const events = trace['traceEvents'] as readonly unknown[];
  const faults = events.flatMap((event, at) => faultsOfEvent(event).map((fault) => `event ${String(at)}: ${fault}`));
  if (faults.length > 0) return faults;
  const known = events as readonly (Complete & { readonly ph: string; readonly pid: number; readonly tid: number; readonly args?: Given })[]; // prettier-ignore
  const threadOf = (one: { readonly pid: number; readonly tid: number }): string =>
    `${String(one.pid)}/${String(one.tid)}`;
  const names = new Map(
    known.flatMap((one) => (one.name === 'thread_name' && one.ph === 'M' ? [[threadOf(one), one.args!['name']]] : [])),
  );
  const used = new Set(known.filter(({ ph }) => ph !== 'M').map(threadOf));
  const slices = new Map<string, Complete[]>();
  for (const one of known.filter(({ ph }) => ph === 'X'))
    slices.set(threadOf(one), [...(slices.get(threadOf(one)) ?? []), one]);
  return [
    ...[...used].filter((thread) => !names.has(thread)).map((thread) => `${thread} has no name`),
    ...(new Set(names.values()).size === names.size ? [] : ['two threads have one name']),
    ...(known.some(({ ph, name }) => ph === 'M' && name === 'process_name') ? [] : ['the process has no name']),
    ...[...slices].flatMap(([thread, own]) => overlaps(thread, own)),
  ];
}
