import type { RecordLine, RunRecord } from '../record/line.ts';
import { visible } from '../text.ts';

/** Markup that is safe to write into a page. Only `html` and `trusted` make it. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in a template: text is escaped, a list is joined, `undefined` prints nothing. */
type Content = Html | string | number | undefined | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text as a page shows it. What steers a terminal or changes the direction of writing is shown as `\x1b` or `\u202e`,
 * as on the terminal: a host's text must not reorder the words beside it.
 */
const escaped = (text: string): string => visible(text).replaceAll(/[&<>"']/g, (one) => ENTITIES[one]!);

/** Where an interpolation stands: between tags, in a tag, or in a quoted value of an attribute. */
type Place = 'text' | 'tag' | 'value';

const places = new WeakMap<TemplateStringsArray, readonly Place[]>();

/** The place of each interpolation of a template. @throws TypeError for a value without double quotes */
function placesOf(strings: TemplateStringsArray): readonly Place[] {
  const known = places.get(strings);
  if (known !== undefined) return known;
  let place: Place = 'text';
  const found = strings.slice(0, -1).map((text): Place => {
    for (const character of text) {
      if (place === 'text' && character === '<') place = 'tag';
      else if (place === 'tag' && character === '>') place = 'text';
      else if (place === 'tag' && character === "'") throw new TypeError('values of attributes stand in double quotes');
      else if (character === '"' && place !== 'text') place = place === 'tag' ? 'value' : 'tag';
    }
    if (place === 'tag' && /[=<]\s*$/.test(text))
      throw new TypeError(`an attribute without quotes: ${text.slice(-40)}`);
    return place;
  });
  places.set(strings, found);
  return found;
}

function written(content: Content, place: Place): string {
  if (content === undefined) return '';
  if (Array.isArray(content)) return content.map((one: Content) => written(one, place)).join('');
  if (content instanceof Html) {
    if (place === 'value') throw new TypeError('markup stands in the value of an attribute');
    return content.toString();
  }
  if (place === 'tag') throw new TypeError('text stands in a tag, where only attributes may');
  return escaped(String(content));
}

/**
 * A part of a page: every interpolation is escaped, except a value that is `Html` already.
 * @throws TypeError where an interpolation could leave its place: in a tag, or in a value without double quotes
 */
export const html = (strings: TemplateStringsArray, ...contents: readonly Content[]): Html => {
  const found = placesOf(strings);
  const parts = strings.map((text, at) => {
    // Indentation is for readers of the code.
    const own = text.replaceAll(/\n\s+/g, '\n');
    return at === 0 ? own : `${written(contents[at - 1], found[at - 1]!)}${own}`;
  });
  return new Html(parts.join(''));
};

/** An attribute that is there or not, for the inside of a tag. */
export const attribute = (name: 'open' | 'hidden', isThere: boolean): Html | undefined =>
  isThere ? new Html(` ${name}`) : undefined;

/** The page's own script and style, which are files of kbuild. Never text of a host. */
export const trusted = (text: string): Html => new Html(text);

/** Between things in a picture, in px. */
export const GAP = 12;

/** A line of a title, in px. */
const LINE = 17;

/** About how wide a character of 13 px is. */
const CHARACTER = 7.3;

/** A part of a picture, and how high it is in px. */
export interface Part {
  readonly height: number;
  readonly draw: (y: number) => Html;
}

/** A text that fits into so many px; its end is cut off. */
export function fitted(text: string, width: number): string {
  const most = Math.max(3, Math.floor(width / CHARACTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** A frame with a title around other things. Title and `about` share a line where both fit. */
export function frame(
  { title, about, width }: { readonly title: string; readonly about: string; readonly width: number },
  inner: Part,
): Part {
  const both = about === '' ? title : `${title} · ${about}`;
  const lines = fitted(both, width - 2 * GAP) === both ? [both] : [title, about];
  const head = lines.length * LINE + 10;
  const height = head + inner.height + GAP;
  return {
    height,
    draw: (y) =>
      html`<rect class="group" x="0.5" y="${y + 0.5}" width="${width - 1}" height="${height - 1}" rx="12" />
        ${lines.map((line, at) => html`<text class="title" x="${GAP}" y="${y + 19 + at * LINE}">${fitted(line, width - 2 * GAP)}</text>`)}
        ${inner.draw(y + head)}`,
  };
}

/** How many colours phases have; neighbours are told apart by all kinds of sight (test/report/page/colours.test.ts). */
export const TONES = 8;

/** The class of a phase's colour; `p0` outside of phases. */
export const toneOf = (number: number): string => (number === 0 ? 'p0' : `p${String(((number - 1) % TONES) + 1)}`);

/** A share of a whole as SVG writes it: `12.34%`. */
export const percent = (part: number, whole: number): string => `${String(Math.round((part / whole) * 1e4) / 100)}%`;

/** A tone of the page; each has a sign of its own, because colour alone says nothing to many. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'note';

/** A sign beside a word that says the same. */
export const sign = (tone: Tone, text: string): Html =>
  html`<span class="sign ${tone}" aria-hidden="true">${text}</span>`;

/** A word in a coloured frame, with its sign. */
export const badge = (tone: Tone, mark: string, word: string): Html =>
  html`<span class="badge ${tone}">${sign(tone, mark)} ${word}</span>`;

/** Text of a host, which may be written from right to left. */
export const said = (text: string): Html => html`<bdi>${text}</bdi>`;

/** Text in which backquotes mark words to type. */
export const withCode = (text: string): readonly Html[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`<bdi>${part}</bdi>`));

/** A card of the page. */
export const card = (id: string, title: string, about: string, content: Html | readonly Html[]): Html =>
  html` <section class="card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${about === '' ? undefined : html`<p class="about">${about}</p>`} ${content}
  </section>`;

/** Items by their key, in the order in which the keys first appear. */
export function byKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * Puts what overlaps in time into lanes below each other: the first lane that is free. In the order of their beginning.
 */
export function lanesOf(spans: readonly { readonly fromMs: number; readonly toMs: number }[]): {
  readonly lanes: readonly number[];
  readonly count: number;
} {
  const freeAt: number[] = [];
  const lanes = spans.map(({ fromMs, toMs }) => {
    const found = freeAt.findIndex((ms) => ms <= fromMs);
    const lane = found === -1 ? freeAt.length : found;
    freeAt[lane] = toMs;
    return lane;
  });
  return { lanes, count: Math.max(1, freeAt.length) };
}

type LineOf<Kind extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: Kind }>;

/** All lines of a kind, in their order. */
export const linesOf = <const Kind extends RecordLine['kind']>(
  { lines }: RunRecord,
  kind: Kind,
): readonly LineOf<Kind>[] => lines.filter((line): line is LineOf<Kind> => line.kind === kind);

/** The last line of a kind, which replaces those before it; undefined: there is none. */
export const lineOf = <const Kind extends RecordLine['kind']>(
  record: RunRecord,
  kind: Kind,
): LineOf<Kind> | undefined => linesOf(record, kind).at(-1);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Distances between ticks that people read easily, in ms. */
const STEPS: readonly number[] = [
  ...[100, 200, 500],
  ...[1, 2, 5, 10, 15, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 192].map((hours) => hours * HOUR),
];

/** How many ticks there are at most, at each level of zoom. */
const TICK_LEVELS = [4, 8, 16, 32, 64, 128] as const;

/** The ticks of an axis for each level of zoom, in ms since its start. */
export const ticksOf = (totalMs: number): readonly (readonly number[])[] =>
  TICK_LEVELS.map((most) => {
    const step = STEPS.find((candidate) => totalMs / candidate <= most) ?? totalMs;
    return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, index) => index * step);
  });

const two = (number: number): string => String(number).padStart(2, '0');

/** A time since the start of the run: `0:07`, `12:30`, `1:02:30`. */
export function clock(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours === 0 ? `${String(minutes)}:${two(rest)}` : `${String(hours)}:${two(minutes)}:${two(rest)}`;
}

/** `2026-11-24 22:08:44 UTC`; the text itself where it is no time. */
export const moment = (time: string): string =>
  Number.isNaN(Date.parse(time)) ? time : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
