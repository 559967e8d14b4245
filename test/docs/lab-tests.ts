/** The table of the lab's tests in docs/contributing.md: what each covers, when it must run, how long it took. */
import { readFileSync } from 'node:fs';
import { format } from 'prettier';
import { TIMES } from '../lab/times.ts';
import { filesOf, GROUPS, MUST_RUN, type Tier } from '../lab/which.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** The comment at the head of a test file up to its first full stop, in one line; empty without one. */
export function firstSentence(text: string): string {
  const comment = /^\/\*\*([^]*?)\*\//.exec(text)?.[1] ?? '';
  const words = comment
    .replaceAll(/^\s*\* ?/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.](?=\s|$)/.exec(words)?.[0] ?? words;
}

const folders = (file: string): string =>
  Object.keys(MUST_RUN)
    .filter((folder) => MUST_RUN[folder]!.includes(file))
    .map((folder) => `\`${folder}\``)
    .join(', ');

function runs(tier: Tier, file: string): string {
  if (tier === 'core') return '`npm test`';
  if (tier === 'long') return '`npm run test:long`';
  return `CI in turn, group ${String(GROUPS.findIndex((group) => group.includes(file)) + 1)}`;
}

function took(file: string): string {
  const time = TIMES[file];
  return time === undefined ? '–' : `${String(time.seconds)} (load ${time.load}, ${time.day})`;
}

/** A row for each test file of the lab. */
export const labTestRows = (): readonly (readonly string[])[] =>
  (['core', 'group', 'long'] as const).flatMap((tier) =>
    filesOf(tier).map((file) => [
      `\`${file.replace('.test.ts', '')}\``,
      firstSentence(read(`test/lab/${file}`)).replaceAll('|', '\\|'),
      runs(tier, file),
      tier === 'core' ? 'any of src, templates, test/lab' : folders(file),
      took(file),
    ]),
  );

const [BEGIN, END] = ['<!-- The table of the lab: npm run docs:tests -->', '<!-- End of the table -->'] as const;

/** docs/contributing.md with its table as it should be. @throws Error when the marks of the table are missing */
export async function contributingPage(): Promise<string> {
  const page = read('docs/contributing.md');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end === -1) throw new Error(`docs/contributing.md has no line ${begin === -1 ? BEGIN : END}`);
  const head = ['test', 'what it covers', 'where it runs', 'must run after a change of', 'seconds'];
  const lines = [head, head.map(() => '---'), ...labTestRows()].map((row) => `| ${row.join(' | ')} |`);
  const text = `${page.slice(0, begin)}${BEGIN}\n\n${lines.join('\n')}\n\n${page.slice(end)}`;
  return format(text, { parser: 'markdown', ...(JSON.parse(read('.prettierrc.json')) as object) });
}
