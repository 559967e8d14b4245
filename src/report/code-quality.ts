import { createHash } from 'node:crypto';
import type { Severity } from '../checks/check.ts';
import type { PlacedFinding } from './findings-at.ts';
import { withoutMeasures } from './grouped.ts';
import { visible } from './visible.ts';

/** What GitLab calls them. */
const SEVERITIES: Readonly<Record<Severity, string>> = {
  error: 'critical',
  unknown: 'major',
  warning: 'minor',
  due: 'info',
};

/** The same for the same finding in another run, wherever its line is and whatever was measured. */
function fingerprint({ check, host, message }: PlacedFinding, times: number): string {
  const text = JSON.stringify([check, host ?? '', withoutMeasures(message), times]);
  return createHash('sha256').update(text).digest('hex');
}

/** Findings as GitLab's Code Quality report: JSON, each with a fingerprint of its own. */
export function codeQuality(findings: readonly PlacedFinding[]): string {
  const seen = new Map<string, number>();
  const report = findings.map((finding) => {
    const { check, host, message, remedy, severity, place } = finding;
    const first = fingerprint(finding, 0);
    const times = seen.get(first) ?? 0;
    seen.set(first, times + 1);
    return {
      description: visible(
        `${host === undefined ? '' : `${host}: `}${message}${remedy === undefined ? '' : ` → ${remedy}`}`,
      ),
      check_name: check,
      fingerprint: times === 0 ? first : fingerprint(finding, times),
      severity: SEVERITIES[severity],
      location: { path: place.file, lines: { begin: place.line } },
    };
  });
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
