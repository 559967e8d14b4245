import type { Severity } from '../checks/check.ts';
import type { PlacedFinding } from './findings-at.ts';
import { counted } from './host-list.ts';
import { visible } from './visible.ts';

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
 * Findings as workflow commands of GitHub Actions, which become annotations: the grave ones first, as many as GitHub shows,
 * and one line about the others. Empty without findings.
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
