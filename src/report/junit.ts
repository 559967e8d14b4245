import type { CheckedFinding } from '../checks/check.ts';
import { stops } from '../checks/run-checks.ts';
import { visible } from './visible.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** XML 1.0 has no way to write most control characters. */
const escaped = (text: string): string =>
  visible(text)
    .replaceAll(/[\ufffe\uffff]/g, '?')
    .replaceAll(/[&<>"']/g, (c) => ESCAPES[c]!);

function testCase(check: string, host: string, found: readonly CheckedFinding[]): string {
  const head = `    <testcase classname="${escaped(host)}" name="${escaped(check)}"`;
  const text = (list: readonly CheckedFinding[]): string =>
    escaped(
      list
        .map(({ severity, message, remedy }) => `${severity}: ${message}${remedy === undefined ? '' : ` (${remedy})`}`)
        .join('\n'),
    );
  const bad = found.filter(stops);
  const rest = found.filter((finding) => !bad.includes(finding));
  const out = rest.length === 0 ? '' : `\n      <system-out>${text(rest)}</system-out>`;
  if (bad.length === 0) return out === '' ? `${head}/>` : `${head}>${out}\n    </testcase>`;
  const [first] = bad as [CheckedFinding];
  return `${head}>\n      <failure type="${first.severity}" message="${escaped(first.message)}">${text(bad)}</failure>${out}\n    </testcase>`;
}

/**
 * Findings as JUnit XML: one test case for each check of each host, and one for the fleet where a finding names no host.
 * Errors and unknowns are failures. Warnings, and findings that `up` mends, are output of a case that passed.
 */
export function junit(
  cluster: string,
  checks: readonly string[],
  hosts: readonly string[],
  findings: readonly CheckedFinding[],
): string {
  const named = [...new Set([...hosts, ...findings.flatMap(({ host }) => host ?? [])])];
  const whole = findings.filter(({ host }) => host === undefined);
  const cases = [
    ...named.flatMap((host) =>
      checks.map((check) => [check, host, findings.filter((one) => one.host === host && one.check === check)] as const),
    ),
    ...[...new Set(whole.map(({ check }) => check))].map(
      (check) => [check, 'all hosts', whole.filter((one) => one.check === check)] as const,
    ),
  ];
  const failures = cases.filter(([, , found]) => found.some(stops));
  const counts = `tests="${String(cases.length)}" failures="${String(failures.length)}" errors="0"`;
  const body = cases.map(([check, host, found]) => testCase(check, host, found)).join('\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="kbuild check ${escaped(cluster)}" ${counts}>\n${body}\n  </testsuite>\n</testsuites>\n`;
}
