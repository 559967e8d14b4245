import type { CheckedFinding } from '../checks/check.ts';
import { stops } from '../checks/run-checks.ts';
import type { PlannedChange } from '../engine/plan.ts';
import type { PlannedRestart } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { findingsText } from './findings.ts';
import { counted } from './host-list.ts';
import type { Block, Markdown } from './markdown.ts';
import { countOf, planParts } from './plan.ts';

/** A comment of a pull request holds so many characters. */
export const COMMENT_LIMIT = 65_536;

/** Findings as a block: open if they stop `up`. None without findings. */
function findingsBlock(findings: readonly CheckedFinding[]): readonly Block[] {
  if (findings.length === 0) return [];
  const grave = findings.filter(stops).length;
  const title = `${counted(findings.length, 'finding')}${grave === 0 ? '' : `, ${String(grave)} of which stop up`}`;
  return [{ title, text: findingsText(findings), shown: grave === 0 ? 'folded' : 'open' }];
}

/** What a plan is made of. */
export interface PlanReport {
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

/** A plan for the comment of a pull request: the sum, what stops `up` and what restarts first, then the changes, folded. */
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
