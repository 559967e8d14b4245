import { visible } from './visible.ts';

/** Markdown that begins with a heading and ends where its limit is. */
export interface Markdown {
  /** Words of kbuild alone: nothing in it is escaped. */
  readonly heading: string;
  /** The result in one line, of kbuild's words alone. */
  readonly result: string;
  readonly blocks: readonly Block[];
}

/** Text of hosts below a title. `folded`: a reader has to open it. */
export interface Block {
  /** Words of kbuild alone. */
  readonly title: string;
  readonly text: string;
  readonly shown: 'folded' | 'open';
}

/** A fence that no line of the text can end. */
function fenceFor(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return '`'.repeat(Math.max(3, longest + 1));
}

const LAST = '\n_Cut here: this is all that fits. `kbuild` in a terminal shows the rest._\n';

/** In a fenced block nothing is Markdown, HTML, a mention or a reference. */
function blockText({ title, text, shown }: Block): string {
  const safe = visible(text).trimEnd();
  const fence = fenceFor(safe);
  return `\n<details${shown === 'open' ? ' open' : ''}><summary>${title}</summary>\n\n${fence}text\n${safe}\n${fence}\n\n</details>\n`;
}

/** As many lines of a block as fit into `room` characters; undefined if that is none. */
function cutBlock(block: Block, room: number): string | undefined {
  const lines = block.text.split('\n');
  let low = 0;
  let high = lines.length;
  const upTo = (count: number): string => blockText({ ...block, text: lines.slice(0, count).join('\n') });
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (upTo(middle).length <= room) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? undefined : upTo(low);
}

/** Markdown of at most `limit` characters, which must hold its heading and result. What is cut is said at its end. */
export function markdownText({ heading, result, blocks }: Markdown, limit: number): string {
  let text = `### ${heading}\n\n${result}\n`;
  for (const block of blocks) {
    const whole = blockText(block);
    if (text.length + whole.length + LAST.length <= limit) {
      text += whole;
      continue;
    }
    return `${text}${cutBlock(block, limit - text.length - LAST.length) ?? ''}${LAST}`;
  }
  return text;
}
