import { table } from '../table.ts';

/** What `kbuild explain` says about one thing, also as JSON. Texts are Markdown. */
export interface Explanation {
  readonly kind: 'setting' | 'check' | 'exit';
  /** `network.podSubnet`, `clock-skew`, `7`. */
  readonly name: string;
  /** What it is, in one line; empty where `why` says all. */
  readonly title: string;
  /** What it is for, or why it exists. */
  readonly why: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** Values that it takes, and what is to know about each. */
  readonly values?: readonly { readonly value: string; readonly note: string }[];
  /** A piece of an inventory, or a command line. */
  readonly example?: string;
  /** Settings in it. */
  readonly inside?: readonly { readonly name: string; readonly summary: string }[];
  /** Pages of the documentation. */
  readonly more: readonly string[];
}

/** Things that can be explained, in short. */
export interface Topics {
  readonly title: string;
  readonly items: readonly { readonly name: string; readonly summary: string }[];
}

const WIDTH = 100;

/** The text in lines of at most 100 characters, where its words are no longer. */
function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}

/** The first sentence of a text, cut at the width of a line. */
export function firstSentence(text: string): string {
  const plain = text.split(/\.(?=\s+[^a-z])/)[0]!.replace(/\.$/, '');
  return plain.length <= WIDTH ? plain : `${plain.slice(0, WIDTH - 1)}…`;
}

const rows = (items: Topics['items']): string => table(items.map(({ name, summary }) => [name, summary]));

const part = (title: string, text: string): readonly string[] => ['', title, text];

/** The facts about a setting, one a line. */
function facts({ type, required, default: preset, values }: Explanation): readonly string[] {
  return [
    ...(type === undefined ? [] : [`  takes    ${type.replaceAll('`', '')}`]),
    ...(preset === undefined ? [] : [`  default  ${JSON.stringify(preset)}`]),
    ...(required === true ? ['  required'] : []),
    ...(values ?? []).filter(({ note }) => note !== '').map(({ value, note }) => `  ${value}: ${note}`),
  ];
}

/** An explanation for people. */
export function explanationText(explanation: Explanation): string {
  const { kind, name, title, why, remedy, example, inside = [], more } = explanation;
  const known = facts(explanation);
  return [
    kind === 'exit' ? `exit ${name}` : name,
    ...(title === '' ? [] : [wrapped(title, '  ')]),
    ...(known.length === 0 ? [] : ['', ...known]),
    '',
    wrapped(why, '  '),
    ...(remedy === undefined ? [] : part('what to do', wrapped(remedy, '  '))),
    ...(example === undefined ? [] : part('example', example.trimEnd().replaceAll(/^/gm, '  '))),
    ...(inside.length === 0 ? [] : part('settings in it', rows(inside))),
    ...part('more', more.map((page) => `  ${page}`).join('\n')),
    '',
  ].join('\n');
}

/** Lists of topics for people. */
export const topicsText = (lists: readonly Topics[]): string =>
  `${lists.map(({ title, items }) => `${title}\n${rows(items)}`).join('\n\n')}\n`;
