import type { CheckedFinding } from '../checks/check.ts';
import { grouped, type Group } from './grouped.ts';
import { counted, hostList } from './host-list.ts';

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
      `${kind}: ${hostList(hosts)}: ${counted(rest.length, 'more finding')} of this check; \`kbuild check --json\` shows each\n`,
    ];
  });
  return lines.join('') + ignoredText(findings.filter(({ ignored }) => ignored === true));
}
