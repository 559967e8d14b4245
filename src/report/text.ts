const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `640 B`, `14.2 MB`: decimal units, as registries write them. */
export function byteText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.95 ? String(Math.round(value)) : value.toFixed(1)} ${UNITS[unit]!}`;
}

/** Whole seconds, rounded down: `40 s`, `2 min 3 s`, `1 h 5 min`. */
export function timeText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${String(seconds)} s`;
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

/** Replaces the names of hosts in a text. */
const HOST = 'HOST';

/** A number that measures something. Texts that differ only in such numbers are grouped. */
const MEASURE = /(?<![\w.:/-])\d+(?:\.\d+)?(?= ?(?:ms|s|min|days?|%|[KMG]i?B|bytes|inodes|CPUs?)(?![\w-]))/g;

/** A text whose measures are `#`, so that those of two runs are the same. */
export const withoutMeasures = (text: string): string => text.replaceAll(MEASURE, '#');

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A text without the name of its host. */
const withoutHost = (text: string, host: string | undefined): string =>
  host === undefined ? text : text.replaceAll(new RegExp(`(?<![\\w.-])${escaped(host)}(?![\\w-]|\\.\\w)`, 'g'), HOST);

/** One text for several that differ at most in measures. A measure that differs becomes `least … greatest`. */
function merged(texts: readonly string[]): string {
  const measures = texts.map((text) => [...text.matchAll(MEASURE)].map(([number]) => number));
  let place = 0;
  return texts[0]!.replaceAll(MEASURE, () => {
    const sorted = measures.map((list) => list[place]!).toSorted((a, b) => Number(a) - Number(b));
    place += 1;
    const [least, greatest] = [sorted[0]!, sorted.at(-1)!];
    return least === greatest ? least : `${least} … ${greatest}`;
  });
}

/** Items of several hosts with the same texts. */
export interface Group<T> {
  readonly items: readonly T[];
  /** In the order of the items, each once; empty for items without a host. */
  readonly hosts: readonly string[];
  /** The texts of the items, merged. With several hosts, `HOST` replaces the names. */
  readonly texts: readonly string[];
}

/** Groups items with the same texts, in the order of their first appearance. `sameKey` must be equal too. */
export function grouped<T extends { readonly host?: string }>(
  items: readonly T[],
  sameKey: (item: T) => string,
  textsOf: (item: T) => readonly string[],
): readonly Group<T>[] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const texts = textsOf(item).map((text) => withoutMeasures(withoutHost(text, item.host)));
    const key = JSON.stringify([sameKey(item), item.host === undefined, ...texts]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].map((group) => {
    const hosts = [...new Set(group.flatMap(({ host }) => host ?? []))];
    const texts = group.map((item) =>
      hosts.length < 2 ? textsOf(item) : textsOf(item).map((text) => withoutHost(text, item.host)),
    );
    return { items: group, hosts, texts: texts[0]!.map((_, at) => merged(texts.map((list) => list[at]!))) };
  });
}

/** Up to this number, every name is listed. */
const MANY = 6;

/** `1 host`, `2 hosts`. */
export const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The stem and the number of a name such as `w12`; undefined for `w012x`, or for a number that Number would round. */
function numbered(name: string): { readonly stem: string; readonly number: number } | undefined {
  const [, stem, digits] = /^(.*?)(0|[1-9]\d{0,14})$/.exec(name) ?? [];
  return stem === undefined || digits === undefined ? undefined : { stem, number: Number(digits) };
}

/** Runs of three and more consecutive numbers as `w1 … w9`, in the order of the hosts. */
function runsOf(hosts: readonly string[]): readonly string[] {
  const runs: string[][] = [];
  for (const host of hosts) {
    const run = runs.at(-1);
    const [before, now] = [numbered(run?.at(-1) ?? ''), numbered(host)];
    const follows = before !== undefined && now?.stem === before.stem && now.number === before.number + 1;
    if (follows) run!.push(host);
    else runs.push([host]);
  }
  return runs.flatMap((run) => (run.length < 3 ? run : [`${run[0]!} … ${run.at(-1)!}`]));
}

/** Names of hosts in a sentence. More than six are shortened: `w1 … w200 (200 hosts)`. */
export function hostList(hosts: readonly string[]): string {
  if (hosts.length <= MANY) return hosts.join(', ');
  const runs = runsOf(hosts);
  const some = runs.length <= MANY ? runs.join(', ') : `${runs.slice(0, MANY - 1).join(', ')}, …`;
  return `${some} (${counted(hosts.length, 'host')})`;
}

/** `0.4 s`, `8.4 s`, `1 min 12 s`, `2 h 5 min`. */
export function lasting(ms: number): string {
  if (ms < 60_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${String(minutes)} min ${String(seconds % 60)} s`
    : `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

/** Rows as indented lines, their columns as wide as their widest cell. The first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .join('\n');
}

/** Characters that a terminal draws over the one before them, or not at all. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Characters of two columns: East Asian wide and fullwidth ones (Unicode, EastAsianWidth.txt), and emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

const PLAIN = /^[\u0020-\u007e]*$/;

const columnsOf = (character: string): number =>
  PLAIN.test(character) ? 1 : ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** How many columns a line of text takes on a terminal; at least, since terminals disagree on rare characters. */
export const textWidth = (line: string): number =>
  PLAIN.test(line) ? line.length : Array.from(line, columnsOf).reduce((sum, columns) => sum + columns, 0);

/** The beginning of a line that fits into these columns. `…` stands at the end of one that was cut. */
export function cutToWidth(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  if (columns < 1) return '';
  let kept = '';
  let width = 0;
  for (const character of line) {
    width += columnsOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * Characters that steer a terminal, or change the order in which a line is read: control characters but line feed and
 * tab (C0, DEL, C1), line and paragraph separators, marks and overrides of writing direction.
 */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const hex = (character: string, digits: number): string => character.charCodeAt(0).toString(16).padStart(digits, '0');

/**
 * Text for a terminal: what steers it is shown as `\x1b` or `\u202e`. Text of hosts, repositories and servers is part
 * of nearly every message, so all output but the contents of files goes through here.
 */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(STEERING, (one) => (one < '\u0100' ? `\\x${hex(one, 2)}` : `\\u${hex(one, 4)}`));

/** JSON in which what steers a terminal is escaped too: JSON itself allows DEL, C1 and direction marks. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(STEERING, (one) => `\\u${hex(one, 4)}`);
