/** Casts and comparisons of PowerShell that kbuild's scripts use. */

/** A value as a text. @throws Error for a table, which no script makes a text of */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'object') throw new Error(`${JSON.stringify(value)} as a text`);
  return `${value as string | number}`;
}

/** What a value puts out: a list its elements, $null nothing where it is looped over. */
export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : value === null || value === undefined ? [] : [value];

/** The value of a condition. @throws Error for one that is neither true nor false: what PowerShell makes of it is not guessed */
export function isTrue(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Error(`a condition is ${JSON.stringify(value)}, neither true nor false`);
  return value;
}

/** As `-eq` compares: texts without case, $null with nothing else. */
function areEqual(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return one === other;
  return textOf(one).toLowerCase() === textOf(other).toLowerCase();
}

/** A pattern with `*`, without case. */
function like(one: unknown, pattern: unknown): boolean {
  const escaped = textOf(pattern).replaceAll(/[.\\+?^${}()|[\]]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*')}$`, 'i').test(textOf(one));
}

const matches = (one: unknown, pattern: unknown): boolean => new RegExp(textOf(pattern), 'i').test(textOf(one));
const holds = (list: unknown, one: unknown): boolean => asList(list).some((element) => areEqual(element, one));

const OPERATORS: Readonly<Record<string, (one: unknown, other: unknown) => unknown>> = {
  '-eq': areEqual,
  '-ne': (one, other) => !areEqual(one, other),
  '-gt': (one, other) => Number(one) > Number(other),
  '-le': (one, other) => Number(one) <= Number(other),
  '-like': like,
  '-match': matches,
  '-notmatch': (one, other) => !matches(one, other),
  '-notcontains': (one, other) => !holds(one, other),
  '-join': (one, other) => asList(one).map(textOf).join(textOf(other)),
  '-split': (one, other) => textOf(one).split(textOf(other)),
  '-and': (one, other) => isTrue(one) && isTrue(other),
  '-or': (one, other) => isTrue(one) || isTrue(other),
  '/': (one, other) => Number(one) / Number(other),
};

/** The result of an operator; undefined for one that is not known. */
export const operate = (operator: string, one: unknown, other: unknown): unknown => OPERATORS[operator]?.(one, other);

/** @throws Error for what is no number */
function whole(value: unknown): number {
  const number = value === null ? 0 : Number(textOf(value));
  if (Number.isNaN(number)) throw new Error(`Cannot convert value "${textOf(value)}" to type "System.Int32".`);
  return Math.round(number);
}

const CASTS: Readonly<Record<string, (value: unknown) => unknown>> = {
  '[string]': textOf,
  '[int]': whole,
  '[long]': whole,
  '[bool]': isTrue,
};

/** A cast of a value; undefined for a type that is not known. $null becomes 0 or an empty text, as in PowerShell. */
export const cast = (type: string, value: unknown): unknown => CASTS[type]?.(value);
