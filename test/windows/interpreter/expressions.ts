/**
 * The expressions of PowerShell that kbuild's scripts use, over the tree of its grammar. Anything else is refused: a script that
 * grows beyond this fails its test, and is never half understood.
 */
import type { Node } from 'web-tree-sitter';
import { asList, cast, isTrue, operate, textOf } from './operators.ts';

/** Variables of a script and of its process. */
export interface Scope {
  /** By name in lower case. */
  readonly variables: Map<string, unknown>;
  /** Of the process; by name, as it was set. */
  readonly environment: Map<string, string>;
}

/** What expressions need of statements. */
export interface Evaluator {
  readonly scope: Scope;
  /** What the statements of a list put out, in order. */
  readonly outputs: (list: Node | undefined) => Promise<readonly unknown[]>;
}

/** A table of PowerShell, with names in any case. */
export type Table = Record<string, unknown>;

/** @throws Error that names the code, of what is not understood */
export const notUnderstood = (node: Node): Error =>
  new Error(`${node.type} on line ${String(node.startPosition.row + 1)} is not understood: ${node.text.slice(0, 80)}`);

/** A node without the levels of the grammar that add nothing to it. */
export function core(node: Node): Node {
  const [only] = node.namedChildren;
  return only !== undefined && node.childCount === 1 && only.text === node.text ? core(only) : node;
}

/** The named children without comments and spaces. */
export const partsOf = (node: Node): readonly Node[] =>
  node.namedChildren.filter(({ type }) => !['comment', 'command_argument_sep'].includes(type));

/** What several outputs are as one value: nothing is $null, one is itself. */
export const asValue = (outputs: readonly unknown[]): unknown =>
  outputs.length === 0 ? null : outputs.length === 1 ? outputs[0] : outputs;

/** @throws Error for a property that is not there: scripts are strict */
function propertyOf(of: unknown, name: string): unknown {
  if (Array.isArray(of) && name === 'Count') return of.length;
  const found = Object.entries((of ?? {}) as Table).find(([key]) => key.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw new Error(`The property '${name}' cannot be found on this object.`);
  return found[1];
}

/** An element by its number, or a value of a table by its name. */
const elementOf = (of: unknown, at: unknown): unknown =>
  (typeof at === 'string' ? (of as Table)[at] : asList(of)[Number(at)]) ?? null;

function variable({ scope }: Evaluator, node: Node): unknown {
  const name = node.text
    .slice(1)
    .replace(/^\{(.*)\}$/, '$1')
    .toLowerCase();
  if (name === 'null') return null;
  if (name === 'true' || name === 'false') return name === 'true';
  if (name.startsWith('env:')) {
    const found = [...scope.environment].find(([key]) => key.toLowerCase() === name.slice(4));
    return found?.[1] ?? null;
  }
  if (!scope.variables.has(name))
    throw new Error(`The variable '${node.text}' cannot be retrieved because it has not been set.`);
  return scope.variables.get(name);
}

/** A text in double quotes: what stands between its variables stays, but for backticks. */
async function expanded(evaluator: Evaluator, node: Node): Promise<string> {
  const plain = (text: string): string => text.replaceAll(/`(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
  let [said, at] = ['', node.startIndex + 1];
  for (const part of partsOf(node)) {
    said += plain(node.text.slice(at - node.startIndex, part.startIndex - node.startIndex));
    said += textOf(await evaluate(evaluator, part));
    at = part.endIndex;
  }
  return said + plain(node.text.slice(at - node.startIndex, -1));
}

/** The value of what is assigned: `@()` and commas make a list, however many elements it has. */
export async function keptValue({ outputs }: Evaluator, node: Node): Promise<unknown> {
  const isList = ['array_expression', 'array_literal_expression'].includes(core(node).type);
  return isList ? [...(await outputs(node))] : asValue(await outputs(node));
}

async function table(evaluator: Evaluator, node: Node): Promise<Table> {
  const made: Table = {};
  for (const entry of partsOf(node).flatMap(partsOf)) {
    const [key, value] = partsOf(entry) as [Node, Node];
    made[key.text] = await keptValue(evaluator, value);
  }
  return made;
}

async function operated(evaluator: Evaluator, node: Node): Promise<unknown> {
  const parts = node.children.filter(({ type }) => !['comment', 'command_argument_sep'].includes(type));
  const [left, operator, right, ...others] = parts as [Node, Node, Node, ...Node[]];
  const result = operate(operator.text, await evaluate(evaluator, left), await evaluate(evaluator, right));
  if (result === undefined || others.length > 0) throw notUnderstood(node);
  return result;
}

async function converted(evaluator: Evaluator, node: Node): Promise<unknown> {
  const [type, value] = partsOf(node) as [Node, Node];
  const result = cast(type.text, await evaluate(evaluator, value));
  if (result === undefined) throw notUnderstood(node);
  return result;
}

/** Only Split, of a text. */
async function called(evaluator: Evaluator, node: Node): Promise<unknown> {
  const [of, member, list] = partsOf(node) as [Node, Node, Node];
  const [separator] = partsOf(list).flatMap(partsOf);
  if (member.text !== 'Split' || separator === undefined) throw notUnderstood(node);
  return textOf(await evaluate(evaluator, of)).split(textOf(await evaluate(evaluator, separator)));
}

/** The value of an expression. @throws Error of what is not understood */
export async function evaluate(evaluator: Evaluator, whole: Node): Promise<unknown> {
  const node = core(whole);
  const parts = partsOf(node);
  switch (node.type) {
    case 'variable':
      return variable(evaluator, node);
    case 'decimal_integer_literal':
      return Number(node.text);
    case 'verbatim_string_characters':
      return node.text.slice(1, -1).replaceAll("''", "'");
    case 'expandable_string_literal':
      return expanded(evaluator, node);
    case 'array_literal_expression':
      return Promise.all(parts.map((part) => evaluate(evaluator, part)));
    case 'array_expression':
      return evaluator.outputs(parts[0]);
    case 'parenthesized_expression':
    case 'sub_expression':
      return asValue(await evaluator.outputs(parts[0]));
    case 'hash_literal_expression':
      return table(evaluator, node);
    case 'comparison_expression':
    case 'logical_expression':
    case 'multiplicative_expression':
      return operated(evaluator, node);
    case 'cast_expression':
      return converted(evaluator, node);
    case 'expression_with_unary_operator':
      if (node.text.startsWith(',')) return [await evaluate(evaluator, parts[0]!)];
      if (!node.text.startsWith('-not')) throw notUnderstood(node);
      return !isTrue(await evaluate(evaluator, parts[0]!));
    case 'member_access':
      return propertyOf(await evaluate(evaluator, parts[0]!), parts[1]!.text);
    case 'element_access':
      return elementOf(await evaluate(evaluator, parts[0]!), await evaluate(evaluator, parts[1]!));
    case 'invokation_expression':
      return called(evaluator, node);
    case 'script_block_expression':
      return () => evaluator.outputs(parts[0]);
    default:
      throw notUnderstood(node);
  }
}
