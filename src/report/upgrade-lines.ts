/** What an upgrade is about. */
export interface UpgradeScope {
  /** The desired version, e.g. `1.37.1`. */
  readonly target: string;
  /** The nodes that are drained, in their order; default: all nodes of the cluster. */
  readonly nodes?: readonly string[];
}

/** Names in a line; the JSON of a plan has all of them. */
const NAMES = 5;

/** The first five names, and how many more there are. */
export const some = (names: readonly string[]): string =>
  names.length <= NAMES
    ? names.join(', ')
    : `${names.slice(0, NAMES).join(', ')} and ${String(names.length - NAMES)} more`;

/** A line that says what stops an upgrade, or what it costs, and a line that says what to do. None without anything found. */
export const warning = (found: readonly unknown[], text: string, remedy: string): readonly string[] =>
  found.length === 0 ? [] : [`! ${text}\n    → ${remedy}\n`];

/** A line that the operator should know, without anything to do. */
export const note = (text: string): string => `- ${text}\n`;

/** A line for what breaks by the upgrade itself. */
export const breaking = (text: string, remedy: string): string => `✖ ${text}\n    → ${remedy}\n`;

/** A line for what could not be observed: unknown is never absent. */
export const unknown = (text: string): string => `? unknown: ${text}\n`;
