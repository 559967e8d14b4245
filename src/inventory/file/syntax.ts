import type { YAMLError } from 'yaml';

/** Characters of a line that a message shows. */
const SHOWN = 100;

/** A line with its number, and a caret under a column (from 1). */
function excerptOf(lines: readonly string[], line: number, column: number): string {
  const text = (lines[line - 1] ?? '').replaceAll('\t', ' ');
  const from = column > SHOWN ? column - SHOWN / 2 : 1;
  const number = String(line);
  const shown = text.slice(from - 1, from - 1 + SHOWN);
  return `\n  ${number} | ${shown}\n  ${' '.repeat(number.length)} | ${' '.repeat(column - from)}^`;
}

/** A mistake that a person made, as a line shows it, where the parser only knows what it met after it. */
interface Mistake {
  readonly seen: RegExp;
  readonly message: (found: RegExpExecArray) => string;
}

/** What to do about a variable or a template in an inventory. */
export const VARIABLES: string =
  'kbuild replaces no variables: write the value, or fill them in before: `envsubst < inventory.yaml | kbuild ' +
  'validate -`';

/** What to do about a template in a value. */
export const TEMPLATES = 'kbuild fills in no templates: write the value, or let that tool write the file first';

const MISTAKES: readonly Mistake[] = [
  { seen: /\$\{[^}]*\}?/, message: ([found]) => `${found} is no value: ${VARIABLES}` },
  {
    seen: /\{[{%][^{}]*\}{0,2}/,
    message: ([found]) => `${found} is a template of another tool; ${TEMPLATES}`,
  },
  {
    seen: /^\s*(?:- )?([A-Za-z][\w.-]*):(?!\/\/)([^\s/][^:]*)$/,
    message: ([, name, value]) => `a blank is missing after the colon: write "${name!}: ${value!.trim()}"`,
  },
  { seen: /^ *\t/, message: () => 'a tab cannot indent in YAML; use spaces' },
];

/** What the codes of the parser mean to the author of an inventory. */
const CODES: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins an escape: write two, or use single quotes',
  BAD_INDENT:
    'this line is not indented as its neighbours are: settings of one mapping begin in the same column, and two ' +
    'further right are inside the one above',
  BAD_SCALAR_START: 'a value cannot begin with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'this line is not indented as its neighbours are, or the setting above it has a value already',
  BLOCK_IN_FLOW: 'inside { } and [ ], settings stand on one line with commas between them',
  MISSING_CHAR: 'something is missing before this place: a colon with a blank, a comma, a quote, or a closing } or ]',
  MULTILINE_IMPLICIT_KEY:
    'this is no setting: each line is "name: value", with a colon and a blank behind the name, and indented as ' +
    'its neighbours are',
  UNEXPECTED_TOKEN: 'this does not belong here: is a quote, a bracket or a comma too much, or one missing before it?',
};

/** A place in a text, lines and columns from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where a mistake stands that explains an error: on its line, or on the one before. */
function mistakeAt(lines: readonly string[], line: number): (Place & { readonly message: string }) | undefined {
  for (const number of [line, line - 1]) {
    const text = lines[number - 1];
    if (text === undefined || /^\s*#/.test(text)) continue;
    for (const { seen, message } of MISTAKES) {
      const found = seen.exec(text);
      if (found === null) continue;
      const column = found.index + 1 + (found[0].length - found[0].trimStart().length);
      return { line: number, column, message: message(found) };
    }
  }
  return undefined;
}

/** An opening bracket of this line that it does not close. */
function openBracket(text: string): number | undefined {
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '#' && /\s/.test(text[at - 1] ?? ' ')) break;
    if (character === '{' || character === '[') open.push(at + 1);
    else if (character === '}' || character === ']') open.pop();
  }
  return open.at(-1);
}

/** The quote of the last line that has an odd number of them: it is open. */
function openQuote(lines: readonly string[]): Place | undefined {
  for (let line = lines.length; line > 0; line -= 1)
    for (const quote of ['"', "'"]) {
      const places = [...(lines[line - 1] ?? '').matchAll(new RegExp(quote, 'g'))];
      if (places.length % 2 === 1) return { line, column: places.at(-1)!.index + 1 };
    }
  return undefined;
}

/** The bracket that was left open before an error: on its line, or on one of the two before. */
function bracketBefore(lines: readonly string[], line: number): Place | undefined {
  for (const number of [line, line - 1, line - 2]) {
    const column = openBracket(lines[number - 1] ?? '');
    if (column !== undefined) return { line: number, column };
  }
  return undefined;
}

/** An error of the parser in words, with its line: the mistake that caused it, where one is known. */
export function syntaxProblem(
  text: string,
  { line, column }: Place,
  { code, message }: Pick<YAMLError, 'code' | 'message'>,
): Place & { readonly message: string } {
  const lines = text.split('\n');
  const shown = (at: Place, words: string) => ({ ...at, message: `${words}${excerptOf(lines, at.line, at.column)}` });
  const mistake = mistakeAt(lines, line);
  if (mistake !== undefined) return shown(mistake, mistake.message);
  if (/flow|end with a/i.test(message)) {
    const bracket = bracketBefore(lines, line);
    if (bracket !== undefined)
      return shown(bracket, `is not valid YAML: this ${lines[bracket.line - 1]![bracket.column - 1]!} is not closed`);
  }
  if (/quote/i.test(message))
    return shown(openQuote(lines) ?? { line, column }, 'is not valid YAML: this quote is not closed');
  const indent = /^( +)(?:- )?[A-Za-z][\w.-]*:(?: |$)/.exec(lines[line - 1] ?? '')?.[1] ?? '';
  if (column <= indent.length && indent !== '')
    return shown({ line, column: indent.length + 1 }, `is not valid YAML: ${CODES['BAD_INDENT']!}`);
  return shown({ line, column }, `is not valid YAML: ${CODES[code] ?? message}`);
}
