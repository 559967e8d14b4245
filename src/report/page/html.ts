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

/** What may stand in a template: text is escaped, a list is joined, `undefined` is nothing. */
export type Content = Html | string | number | undefined | readonly Content[];

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
export const escaped = (text: string): string => visible(text).replaceAll(/[&<>"']/g, (one) => ENTITIES[one]!);

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
 * A part of a page: every interpolation is escaped, except what is `Html` already.
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
