import type { CheckedFinding } from '../checks/check.ts';

const SIGNS = { error: '✖', unknown: '?', warning: '!', due: '~' } as const;

/** Findings for people, grouped by host; those of the whole fleet first. */
export function findingsText(findings: readonly CheckedFinding[]): string {
  const byHost = new Map<string, CheckedFinding[]>();
  for (const finding of findings) {
    const mine = byHost.get(finding.host ?? '');
    if (mine === undefined) byHost.set(finding.host ?? '', [finding]);
    else mine.push(finding);
  }
  return [...byHost]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([host, mine]) => {
      const rows = mine.map(
        ({ severity, check, message, remedy }) =>
          `  ${SIGNS[severity]} ${severity} ${check}: ${message}${remedy === undefined ? '' : `\n      ${remedy}`}\n`,
      );
      return `${host === '' ? 'all hosts' : host}\n${rows.join('')}`;
    })
    .join('');
}
