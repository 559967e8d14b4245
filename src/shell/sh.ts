import type { Command } from './command.ts';
import { onceForEach } from './memo.ts';

/** What may be interpolated into a command: becomes one quoted word, an array several. A `Secret` is no word. */
export type Word = string | number | readonly Word[];

/** POSIX single quotes: inside them nothing is special to sh, dash or bash. Throws `TypeError` on NUL. */
export function quote(word: string): string {
  if (word.includes('\0')) throw new TypeError('a shell word cannot contain NUL');
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function words(value: Word): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return String(value);
  return value.map(words).join(' ');
}

type Quote = "'" | '"' | undefined;

/** What quotes a POSIX shell is in after it has read the text, when it was in `before`. */
function quotedAfter(text: string, before: Quote): Quote {
  let open = before;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '\\' && open !== "'") i++;
    else if ((c === "'" || c === '"') && (open === undefined || open === c)) open = open === undefined ? c : undefined;
  }
  return open;
}

/** Why nothing may be interpolated after each part of a template; the same however often it is used. */
const refusalsOf = onceForEach((strings: TemplateStringsArray): readonly (string | undefined)[] => {
  let quote: Quote;
  return strings.map((text, i) => {
    quote = quotedAfter(text, quote);
    if (quote !== undefined) return 'interpolation inside quotes';
    return /<<-?\s*['"\\\w]/.test(strings.slice(0, i + 1).join('')) ? 'interpolation in a here-document' : undefined;
  });
});

/**
 * One POSIX command. Every interpolation becomes a quoted word; there is no raw form. Throws `TypeError` where an
 * interpolation stands inside quotes or after a here-document, because quoting would not hold there.
 */
export function sh(strings: TemplateStringsArray, ...values: readonly Word[]): Command<'sh'> {
  let script = strings[0]!;
  const refusals = refusalsOf(strings);
  values.forEach((value, i) => {
    const refusal = refusals[i];
    if (refusal !== undefined) throw new TypeError(`${refusal}: ${script}`);
    script += words(value) + strings[i + 1]!;
  });
  return { shell: 'sh', script, title: script.trim().split('\n')[0]!.trim() };
}
