import { type CheckedFinding, stops } from '../engine/check.ts';
import { counted, hostList } from './text.ts';

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

/** `2 checks failed on w1, w2 (5 findings)`: checks are what the operator mends, findings may be many of one check. */
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
