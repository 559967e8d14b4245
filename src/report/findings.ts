import type { CheckedFinding } from '../checks/check.ts';

const SIGNS = { error: '✖', unknown: '?', warning: '!', due: '~' } as const;

/** Findings for people, grouped by host; those of the whole fleet first. */
export function findingsText(findings: readonly CheckedFinding[]): string {
  const hosts = [...new Set(findings.map(({ host }) => host ?? ''))].sort();
  return hosts
    .map((host) => {
      const mine = findings.filter((finding) => (finding.host ?? '') === host);
      const rows = mine.map(
        ({ severity, check, message, remedy }) =>
          `  ${SIGNS[severity]} ${severity} ${check}: ${message}${remedy === undefined ? '' : `\n      ${remedy}`}\n`,
      );
      return `${host === '' ? 'all hosts' : host}\n${rows.join('')}`;
    })
    .join('');
}
