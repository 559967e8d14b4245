import type { Severity } from '../checks/check.ts';
import type { Problem } from '../errors.ts';

/** A place in a file, counted from 1. */
export interface Place {
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
