import { type CheckedFinding, stops } from '../engine/check.ts';
import { counted, type Group, grouped, hostList, visible } from './text.ts';

const SIGNS = { error: '✖', unknown: '?', warning: '!', due: '~' } as const;

/** Lines of one check whose findings differ from host to host. One more line counts the others. */
const LINES = 8;

const kindOf = ({ severity, check }: CheckedFinding): string => `${SIGNS[severity]} ${severity} ${check}`;

function groupText({ items, hosts, texts }: Group<CheckedFinding>): string {
  const [message, remedy = ''] = texts as [string, string?];
  const about = hosts.length === 0 ? '' : `${hostList(hosts)}: `;
  return `${kindOf(items[0]!)}: ${about}${message}\n${remedy === '' ? '' : `    → ${remedy}\n`}`;
}

/** Findings that `ignoreChecks` and `--ignore-check` ignore, in one line; empty without any. */
function ignoredText(findings: readonly CheckedFinding[]): string {
  if (findings.length === 0) return '';
  const checks = [...new Set(findings.map(({ check }) => check))].map((name) => {
    const hosts = new Set(findings.flatMap(({ check, host }) => (check === name ? (host ?? []) : []))).size;
    return hosts === 0 ? name : `${name} (${counted(hosts, 'host')})`;
  });
  return `ignored: ${checks.join(', ')}\n`;
}

/**
 * Findings as text, in their order. The same finding of several hosts is one line; all ignored findings are one line.
 */
export function findingsText(findings: readonly CheckedFinding[]): string {
  const shown = findings.filter(({ ignored }) => ignored !== true);
  const kinds = new Map<string, Group<CheckedFinding>[]>();
  for (const group of grouped(shown, kindOf, ({ message, remedy }) => [message, remedy ?? ''])) {
    const kind = kindOf(group.items[0]!);
    kinds.set(kind, [...(kinds.get(kind) ?? []), group]);
  }
  const lines = [...kinds].flatMap(([kind, groups]) => {
    if (groups.length <= LINES) return groups.map(groupText);
    const rest = groups.slice(LINES - 1);
    const hosts = [...new Set(rest.flatMap((group) => group.hosts))];
    return [
      ...groups.slice(0, LINES - 1).map(groupText),
      `${kind}: ${hostList(hosts)}: ${counted(rest.length, 'more finding')} of this check; \`kbuild check ` +
        '--json` shows each\n',
    ];
  });
  return lines.join('') + ignoredText(findings.filter(({ ignored }) => ignored === true));
}

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
  return (
    `${head}>\n      <failure type="${first.severity}" ` +
    `message="${escaped(first.message)}">${text(bad)}</failure>${out}\n    </testcase>`
  );
}

/**
 * Findings as JUnit XML: one test case for each check of each host, and one for the fleet where a finding names no
 * host. Errors and unknowns are failures. Warnings, and findings that `up` mends, are output of a case that passed.
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
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n  <testsuite name="kbuild check ` +
    `${escaped(cluster)}" ${counts}>\n${body}\n  </testsuite>\n</testsuites>\n`
  );
}

const checksOf = (findings: readonly CheckedFinding[]): readonly string[] => [
  ...new Set(findings.map(({ check }) => check)),
];

const hostsOf = (findings: readonly CheckedFinding[]): readonly string[] => [
  ...new Set(findings.flatMap(({ host }) => host ?? [])),
];

/** `on w1, w2`; empty for findings about the whole fleet. */
const on = (findings: readonly CheckedFinding[]): string => {
  const hosts = hostsOf(findings);
  return hosts.length === 0 ? '' : ` on ${hostList(hosts)}`;
};

/** `2 checks failed on w1, w2 (5 findings)`. The operator mends checks; one check may have many findings. */
export function failedText(bad: readonly CheckedFinding[]): string {
  const checks = checksOf(bad).length;
  const findings = bad.length === checks ? '' : ` (${counted(bad.length, 'finding')})`;
  return `${counted(checks, 'check')} failed${on(bad)}${findings}`;
}

/** The last line of `kbuild check`: whether `up` may start. */
export function checkVerdict(hosts: number, findings: readonly CheckedFinding[]): string {
  const bad = findings.filter(stops);
  const warnings = findings.filter(({ severity, ignored }) => severity === 'warning' && ignored !== true);
  const due = findings.filter(({ severity }) => severity === 'due');
  const beside = [
    ...(warnings.length === 0 ? [] : [`${counted(checksOf(warnings).length, 'check')} with warnings${on(warnings)}`]),
    ...(due.length === 0 ? [] : [`${counted(checksOf(due).length, 'check')} that \`kbuild up\` mends`]),
  ];
  if (bad.length > 0) return [`✖ ${failedText(bad)}`, ...beside].join('; ');
  const nothing = beside.length === 0 ? 'nothing found' : 'no check failed';
  return [`✔ ${counted(hosts, 'host')}: ${nothing}`, ...beside].join('; ');
}
