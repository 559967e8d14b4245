import { type CheckedFinding, stops } from '../engine/check.ts';
import type { PlannedChange } from '../engine/plan.ts';
import type { PlannedRestart } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { findingsText } from './findings.ts';
import { countOf, planParts } from './plan.ts';
import { counted, visible } from './text.ts';

/** Markdown that begins with a heading and ends where its limit is. */
export interface Markdown {
  /** Words of kbuild alone: nothing in it is escaped. */
  readonly heading: string;
  /** The result in one line, of kbuild's words alone. */
  readonly result: string;
  readonly blocks: readonly Block[];
}

/** Text of hosts below a title. `folded`: a reader has to open it. */
interface Block {
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
  const open = shown === 'open' ? ' open' : '';
  return `\n<details${open}><summary>${title}</summary>\n\n${fence}text\n${safe}\n${fence}\n\n</details>\n`;
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

/** Markdown of at most `limit` characters, which must hold its heading and result. Its end says if it was cut. */
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

/** A comment of a pull request holds so many characters. */
export const COMMENT_LIMIT = 65_536;

/** Findings as a block: open if they stop `up`. None without findings. */
function findingsBlock(findings: readonly CheckedFinding[]): readonly Block[] {
  if (findings.length === 0) return [];
  const grave = findings.filter(stops).length;
  const title = `${counted(findings.length, 'finding')}${grave === 0 ? '' : `, ${String(grave)} of which stop up`}`;
  return [{ title, text: findingsText(findings), shown: grave === 0 ? 'folded' : 'open' }];
}

/** The parts of a plan. */
interface PlanReport {
  readonly cluster: string;
  readonly phases: readonly Phase[];
  readonly planned: readonly PlannedChange[];
  readonly restarts: readonly PlannedRestart[];
  readonly findings: readonly CheckedFinding[];
  /** Contents that change, as `plan --diff` prints them; empty without. */
  readonly previews: string;
  /** Hosts that the run leaves out, as text; empty: none. */
  readonly leftOut: string;
}

/**
 * A plan for the comment of a pull request: the sum, what stops `up` and what restarts first, then the changes, folded.
 */
export function planMarkdown(plan: PlanReport): Markdown {
  const { phases, restarts, sum } = planParts(plan.phases, plan.planned, plan.restarts);
  return {
    heading: `kbuild plan: ${plan.cluster}`,
    result: plan.planned.length === 0 ? 'Nothing to do.' : `**${sum}**`,
    blocks: [
      ...findingsBlock(plan.findings),
      ...(plan.leftOut === ''
        ? []
        : [{ title: 'Hosts that are left out', text: plan.leftOut, shown: 'open' as const }]),
      ...(restarts === '' ? [] : [{ title: 'Restarts', text: restarts, shown: 'open' as const }]),
      ...phases.map(({ title, text, changes }) => ({
        title: `${title}: ${changes.length === 0 ? 'waits' : countOf(changes)}`,
        text,
        shown: 'folded' as const,
      })),
      ...(plan.previews === '' ? [] : [{ title: 'Contents', text: plan.previews, shown: 'folded' as const }]),
    ],
  };
}

/** A plan that was refused. */
export const refusedMarkdown = (
  cluster: string,
  refusals: readonly { readonly message: string; readonly remedy?: string | undefined }[],
): Markdown => ({
  heading: `kbuild plan: ${cluster}`,
  result: '**Refused: kbuild would change nothing**',
  blocks: [
    {
      title: 'Why',
      text: refusals
        .map(({ message, remedy }) => `${message}${remedy === undefined ? '' : `\n→ ${remedy}`}`)
        .join('\n'),
      shown: 'open',
    },
  ],
});

/** The findings of `check` for the summary of a pipeline's step. */
export function checkMarkdown(cluster: string, hosts: number, findings: readonly CheckedFinding[]): Markdown {
  const grave = findings.filter(stops).length;
  return {
    heading: `kbuild check: ${cluster}`,
    result:
      findings.length === 0
        ? `${counted(hosts, 'host')}: nothing found.`
        : `**${counted(hosts, 'host')}: ${counted(findings.length, 'finding')}, ${String(grave)} of which stop up**`,
    blocks: findings.length === 0 ? [] : [{ title: 'Findings', text: findingsText(findings), shown: 'open' }],
  };
}

/** The problems of an inventory for the summary of a pipeline's step. */
export const validateMarkdown = (isValid: boolean, text: string): Markdown => ({
  heading: 'kbuild validate',
  result: isValid ? 'The inventory is valid.' : '**The inventory is not valid**',
  blocks: text === '' ? [] : [{ title: 'Problems and warnings', text, shown: 'open' }],
});
