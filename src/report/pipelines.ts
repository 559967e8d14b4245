import { createHash } from 'node:crypto';
import type { Severity } from '../engine/check.ts';
import type { Problem } from '../errors.ts';
import { counted, visible, withoutMeasures } from './text.ts';

/** A place in a file, counted from 1. */
interface Place {
  /** With `/`, relative to the folder of the repository where it is in there. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A finding, or a problem of the inventory, for programs that show it beside a line of a file. */
export interface PlacedFinding {
  readonly severity: Severity;
  /** The name of the check; `inventory` for a problem of the inventory. */
  readonly check: string;
  readonly host?: string | undefined;
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly place: Place;
}

/** The place that `file:line:column` names. A file alone means its beginning. */
export function placeOf(at: string, fileOf: (file: string) => string): Place {
  const [, file = at, line = '1', column = '1'] = /^(.*?):(\d+):(\d+)$/s.exec(at) ?? [];
  return { file: fileOf(file), line: Number(line), column: Number(column) };
}

/** Problems and warnings of an inventory, the problems first. */
export const placedProblems = (
  { problems, warnings }: { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] },
  fileOf: (file: string) => string,
): readonly PlacedFinding[] => {
  const placed = (severity: Severity) => (one: Problem) => ({
    severity,
    check: 'inventory',
    message: `${one.path === '' ? '' : `${one.path}: `}${one.message}`,
    place: placeOf(one.at, fileOf),
  });
  return [...problems.map(placed('error')), ...warnings.map(placed('warning'))];
};

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

/** GitHub shows so many annotations of a kind for each step, and drops the others silently. */
const SHOWN = 10;

const COMMANDS: readonly (readonly [command: string, severities: readonly Severity[]])[] = [
  ['error', ['error', 'unknown']],
  ['warning', ['warning']],
  ['notice', ['due']],
];

const message = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => message(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function annotation(command: string, { check, host, message: text, remedy, place }: PlacedFinding): string {
  const { file, line, column } = place;
  const title = host === undefined ? check : `${check}: ${host}`;
  const at = file === '-' ? '' : `file=${property(file)},line=${String(line)},col=${String(column)},`;
  const body = visible(`${text}${remedy === undefined ? '' : `\n→ ${remedy}`}`);
  return `::${command} ${at}title=${property(visible(title))}::${message(body)}\n`;
}

/**
 * Findings as workflow commands of GitHub Actions, which become annotations: the grave ones first, as many as GitHub
 * shows, and one line about the others. Empty without findings.
 */
export function annotations(findings: readonly PlacedFinding[]): string {
  const groups = COMMANDS.map(([command, severities]) => {
    const all = findings.filter(({ severity }) => severities.includes(severity));
    return { lines: all.slice(0, SHOWN).map((one) => annotation(command, one)), rest: Math.max(0, all.length - SHOWN) };
  });
  const rest = groups.reduce((sum, group) => sum + group.rest, 0);
  const more =
    rest === 0 ? '' : `${counted(rest, 'more finding')} without an annotation: the summary of this step has all\n`;
  return groups.flatMap(({ lines }) => lines).join('') + more;
}

/** Text of which no line is a workflow command: hosts choose parts of it. */
export const withoutCommands = (text: string): string =>
  text.replaceAll(/^([^\S\n\r\u2028\u2029]*)::(?=[a-z])/gim, '$1:\u200B:').replaceAll('##[', '#\u200B#[');
