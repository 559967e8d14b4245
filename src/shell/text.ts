/** Characters that a message shows of a host's unexpected text. */
const EXCERPT = 200;

/** The beginning of a text as one line of at most `most` characters; `…` ends one that was cut. */
export function excerpt(text: string, most: number = EXCERPT): string {
  // White space shrinks: twice the limit is enough, and an answer may have 64 MiB.
  const looked = text.slice(0, 2 * most);
  const line = looked.replaceAll(/\s+/g, ' ').trim();
  if (line.length > most) return `${line.slice(0, most - 1)}…`;
  return text.length > looked.length ? `${line.slice(0, most - 1)}…` : line;
}

/** The text without what repeats at its end. Unlike `/x+$/`, it takes a time that grows with the length alone. */
export function withoutEnd(text: string, repeated: string): string {
  let end = text.length;
  while (text.endsWith(repeated, end) && end > 0) end -= repeated.length;
  return text.slice(0, end);
}

/** The text without blanks around it, and without the quotes around that. */
export const unquoted = (text: string): string => text.trim().replace(/^["']/, '').replace(/["']$/, '');

/**
 * True if the pattern matches the whole name: `*` stands for any characters, with `single` also `?` for one. Takes at
 * most pattern × name steps, whatever the pattern: a regular expression with several `.*` takes exponentially many.
 */
export function matchesGlob(
  pattern: string,
  name: string,
  { single = false }: { readonly single?: boolean } = {},
): boolean {
  let at = 0;
  let place = 0;
  // Where the last `*` stands, and up to where it reaches: only the last one ever has to grow.
  let star = -1;
  let reach = 0;
  while (place < name.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      reach = place;
    } else if (wanted !== undefined && (wanted === name[place] || (single && wanted === '?'))) {
      at++;
      place++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      place = ++reach;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
