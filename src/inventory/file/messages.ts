import type { z } from 'zod';
import { networkPlugins } from '../../network/plugins.value.ts';
import { nearest } from '../nearest.ts';
import type { Located } from './document.ts';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list (lines that begin with "- ", or [a, b])',
  object: 'a mapping of settings (name: value)',
  record: 'a mapping (name: value)',
};

const expectation = (expected: string): string => EXPECTED[expected] ?? expected;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
}

/** The message for a value of the wrong type. */
function typeMessage(expected: string, found: Located): string {
  const { value, source } = found;
  if (value === null) return `has no value; it must be ${expectation(expected)}`;
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `is a ${typeof value} to YAML, not text: quote it: "${source ?? String(value)}"`;
  if ((expected === 'number' || expected === 'int') && typeof value === 'string' && /^\d+$/.test(value))
    return `must be ${expectation(expected)}: remove the quotes`;
  return `must be ${expectation(expected)}, not ${kindOf(value)}`;
}

/** Values that the schema has and `validate` refuses: no message offers them. */
const UNSUPPORTED: ReadonlySet<string> = new Set(
  networkPlugins.flatMap(({ name, isSupported }) => (isSupported ? [] : [name])),
);

const offered = (values: readonly unknown[]): readonly string[] =>
  values.map(String).filter((value) => !UNSUPPORTED.has(value));

function choiceMessage(values: readonly unknown[], value: unknown): string {
  const choices = offered(values);
  const meant = typeof value === 'string' ? nearest(value, choices) : undefined;
  const list = choices.length === 1 ? `must be ${choices[0]!}` : `must be one of ${choices.join(', ')}`;
  return meant === undefined ? list : `${list}; did you mean "${meant}"?`;
}

/**
 * The message of an issue of the schema; undefined leaves it to the format's own. `found` is missing when nothing is
 * there.
 */
export function issueMessage(issue: RawIssue, found: Located | undefined): string | undefined {
  // The formats have messages of their own for the other codes.
  // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check
  switch (issue.code) {
    case 'invalid_type':
      return found === undefined ? `is required: ${expectation(issue.expected)}` : typeMessage(issue.expected, found);
    case 'invalid_value':
      return found === undefined
        ? `is required: one of ${offered(issue.values).join(', ')}`
        : choiceMessage(issue.values, found.value);
    case 'too_small':
      return issue.origin === 'array' ? 'needs at least one entry' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${issue.maximum} characters long`
        : `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

/** The message for an unknown setting, with the known ones. */
export function unknownSetting(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const shown = name.length > 64 ? `${name.slice(0, 61)}...` : name;
  return meant === undefined
    ? `unknown setting ${JSON.stringify(shown)}; allowed here: ${known.join(', ')}`
    : `unknown setting ${JSON.stringify(shown)}; did you mean "${meant}"?`;
}

/** The message for an unknown check, with the nearest of the `known` names. */
export function unknownCheck(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `there is no check ${JSON.stringify(name)}; ${meant === undefined ? 'docs/checks.md lists them' : `did you mean "${meant}"?`}`;
}

/** Of a value that may have several forms: the issue of the form that was tried. */
export function triedForm(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const forms = issue.errors.filter((errors) => !errors.some((e) => e.code === 'invalid_type' && e.path.length === 0));
  const inner = forms[0]?.[0];
  const isNumeric = issue.errors.some((errors) =>
    errors.some((e) => e.code === 'invalid_type' && (e.expected === 'number' || e.expected === 'int')),
  );
  if (inner === undefined)
    return { ...issue, message: isNumeric ? 'must be text or a whole number' : 'must be text or a list of texts' };
  return triedForm({ ...inner, path: [...issue.path, ...inner.path] });
}
