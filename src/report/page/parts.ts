import { html, type Html } from './html.ts';

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

/** The class of a phase's colour; `p0` for what is no phase. */
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

/** Text in which backquotes mark what is typed. */
export const withCode = (text: string): readonly Html[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`<bdi>${part}</bdi>`));

/** A card of the page. */
export const card = (id: string, title: string, about: string, content: Html | readonly Html[]): Html =>
  html` <section class="card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${about === '' ? undefined : html`<p class="about">${about}</p>`} ${content}
  </section>`;
