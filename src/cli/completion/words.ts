/** How a word of a shell's line goes on: outside quotes, or inside of them. */
type Quote = '' | "'" | '"';

/**
 * The words of a line of bash up to the cursor, quotes and backslashes taken away; the last one is under way, and empty after
 * a blank. What a shell would put in the place of `$NAME` or `$(…)` stays as it is: nothing is run.
 */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: Quote = '';
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word ??= '';
    } else if (character === quote) quote = '';
    else if (character === '\\' && quote !== "'") {
      at += 1;
      word = `${word ?? ''}${line[at] ?? ''}`;
    } else word = `${word ?? ''}${character}`;
  }
  return [...words, word ?? ''];
}
