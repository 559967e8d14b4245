import { html, type Html } from '../html.ts';

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
