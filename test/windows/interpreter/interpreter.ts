/** Runs the statements of a script for Windows over the tree of its grammar; its commands do what the caller says. */
import type { Node } from 'web-tree-sitter';
import { nodesOf, powershellParser, problemsOf } from '../grammar.ts';
import { ScriptFailure } from '../host/script.ts';
import { assign, nameOf } from './assignment.ts';
import { asValue, core, evaluate, notUnderstood, partsOf, type Evaluator, type Scope } from './expressions.ts';
import { asList, isTrue } from './operators.ts';
import { parametersOf } from './parameters.ts';

/** What a command does with its parameters, by their names in lower case; what it puts out. A switch is true. */
export type Command = (params: Readonly<Record<string, unknown>>) => unknown;

/** A script's parameters, its environment, and every command that it may call, by its name. */
export interface ScriptRun {
  readonly params: Readonly<Record<string, unknown>>;
  readonly environment: Map<string, string>;
  readonly commands: Readonly<Record<string, Command>>;
  /** Variables that PowerShell sets by itself. */
  readonly automatic?: Readonly<Record<string, unknown>>;
}

/** What ends a function, with its outputs. */
class Returned extends Error {
  readonly outputs: readonly unknown[];
  constructor(outputs: readonly unknown[]) {
    super('return outside of a function');
    this.outputs = outputs;
  }
}

/** A function of the script: its parameters in their order, and what it does. */
interface OwnFunction {
  readonly parameters: readonly string[];
  readonly body: Node | undefined;
}

/** One script, or one of its functions, that runs. */
interface Frame extends ScriptRun {
  readonly evaluator: Evaluator;
  readonly functions: Map<string, OwnFunction>;
}

const frameOf = (run: ScriptRun, functions: Frame['functions']): Frame => {
  const automatic = Object.entries(run.automatic ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const scope: Scope = { variables: new Map(automatic), environment: run.environment };
  const frame: Frame = { ...run, functions, evaluator: { scope, outputs: (list) => outputsOf(list, frame) } };
  return frame;
};

let parser: Promise<(text: string) => Node> | undefined;
const trees = new Map<string, Node>();

/** @throws Error with each place that the grammar does not know */
async function treeOf(text: string): Promise<Node> {
  parser ??= powershellParser();
  const tree = trees.get(text) ?? (await parser)(text);
  const problems = trees.has(text) ? [] : problemsOf(tree);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  trees.set(text, tree);
  return tree;
}

/** Runs it to its end. @throws ScriptFailure for its own throw; Error for what is not understood, and for an unknown command */
export async function interpret(text: string, run: ScriptRun): Promise<void> {
  const tree = await treeOf(text);
  const frame = frameOf(run, new Map());
  await bind(tree, frame);
  const body = partsOf(tree).find(({ type }) => type === 'statement_list');
  await frame.evaluator.outputs(body);
}

async function bind(tree: Node, { evaluator, params }: Frame): Promise<void> {
  const given = new Map(Object.entries(params).map(([name, value]) => [name.toLowerCase(), value]));
  const block = nodesOf(tree, 'param_block')[0];
  for (const declared of block === undefined ? [] : nodesOf(block, 'script_parameter')) {
    const parts = partsOf(declared);
    const name = nameOf(parts.find(({ type }) => type === 'variable')!);
    const fallback = parts.find(({ type }) => type === 'script_parameter_default');
    const value = given.has(name)
      ? given.get(name)
      : fallback === undefined
        ? null
        : await evaluate(evaluator, partsOf(fallback)[0]!);
    evaluator.scope.variables.set(name, value);
  }
}

const LISTS = ['statement_list', 'statement_block', 'script_block', 'script_block_body'];

async function outputsOf(list: Node | undefined, frame: Frame): Promise<readonly unknown[]> {
  if (list === undefined) return [];
  const said: unknown[] = [];
  for (const one of LISTS.includes(list.type) ? partsOf(list) : [list])
    said.push(...(LISTS.includes(one.type) ? await outputsOf(one, frame) : await statement(one, frame)));
  return said;
}

async function statement(whole: Node, frame: Frame): Promise<readonly unknown[]> {
  const node = core(whole);
  const parts = partsOf(node);
  switch (node.type) {
    case 'empty_statement':
      return [];
    case 'assignment_expression':
      await assign(node, frame.evaluator);
      return [];
    case 'if_statement':
      return chosen(node, frame.evaluator);
    case 'foreach_statement':
      return looped(parts, frame.evaluator);
    case 'try_statement':
      return tried(node, frame.evaluator);
    case 'flow_control_statement':
      return left(node, frame.evaluator);
    case 'function_statement':
      declare(node, frame);
      return [];
    case 'pipeline_chain':
      return piped(node, frame);
    case 'command':
    case 'command_name':
      return asList(await command(node, frame));
    default:
      return asList(await evaluate(frame.evaluator, node));
  }
}

async function looped(parts: readonly Node[], evaluator: Evaluator): Promise<readonly unknown[]> {
  const [variable, list, block] = parts as [Node, Node, Node];
  const said: unknown[] = [];
  for (const one of asList(asValue(await evaluator.outputs(list)))) {
    evaluator.scope.variables.set(nameOf(variable), one);
    said.push(...(await evaluator.outputs(block)));
  }
  return said;
}

/** `throw` by itself throws again what was caught. */
async function left(node: Node, evaluator: Evaluator): Promise<readonly unknown[]> {
  const [value] = partsOf(node);
  const outputs = await evaluator.outputs(value);
  if (node.text.startsWith('return')) throw new Returned(outputs);
  if (!node.text.startsWith('throw')) throw notUnderstood(node);
  if (value === undefined) throw evaluator.scope.variables.get('_') as Error;
  throw new ScriptFailure(String(asValue(outputs)));
}

async function tried(node: Node, evaluator: Evaluator): Promise<readonly unknown[]> {
  const [block] = partsOf(node);
  const [clause, ...others] = nodesOf(node, 'catch_clause', 'finally_clause');
  if (clause?.type !== 'catch_clause' || others.length > 0) throw notUnderstood(node);
  try {
    return await evaluator.outputs(block);
  } catch (error) {
    if (error instanceof Returned) throw error;
    evaluator.scope.variables.set('_', error);
    return evaluator.outputs(partsOf(clause).at(-1));
  }
}

/** Only `| Out-Null` and `| Where-Object -FilterScript { … }`. */
async function piped(node: Node, frame: Frame): Promise<readonly unknown[]> {
  const [first, second, ...others] = partsOf(node) as [Node, Node, ...Node[]];
  const filter = /^Where-Object -FilterScript /.test(second.text) ? nodesOf(second, 'script_block')[0] : undefined;
  if (others.length > 0 || (filter === undefined && second.text !== 'Out-Null')) throw notUnderstood(node);
  const said = await statement(first, frame);
  if (filter === undefined) return [];
  const kept: unknown[] = [];
  for (const one of said) {
    frame.evaluator.scope.variables.set('_', one);
    if (isTrue(asValue(await frame.evaluator.outputs(filter)))) kept.push(one);
  }
  return kept;
}

function declare(node: Node, { functions }: Frame): void {
  const parts = partsOf(node);
  const [name] = parts;
  const list = parts.find(({ type }) => type === 'function_parameter_declaration');
  functions.set(name!.text, {
    parameters: list === undefined ? [] : nodesOf(list, 'variable').map(nameOf),
    body: parts.find(({ type }) => LISTS.includes(type)),
  });
}

async function chosen(node: Node, evaluator: Evaluator): Promise<readonly unknown[]> {
  const clauses = partsOf(node).flatMap((part) =>
    part.type === 'elseif_clauses' ? partsOf(part).flatMap(partsOf) : [part],
  );
  while (clauses.length > 0) {
    const [condition, block] = clauses.splice(0, 2) as [Node, Node | undefined];
    if (condition.type === 'else_clause') return evaluator.outputs(partsOf(condition)[0]);
    if (isTrue(asValue(await evaluator.outputs(condition)))) return evaluator.outputs(block);
  }
  return [];
}

async function command(node: Node, frame: Frame): Promise<unknown> {
  const [name, elements] = node.type === 'command_name' ? [node] : (partsOf(node) as [Node, Node | undefined]);
  const params = await parametersOf(elements === undefined ? [] : partsOf(elements), frame.evaluator);
  const own = frame.functions.get(name.text);
  if (own !== undefined) return called(own, params, frame);
  const does = frame.commands[name.text];
  if (does === undefined) throw new Error(`${name.text} has no stand-in`);
  if ('0' in params) throw notUnderstood(node);
  return does(params);
}

/** A function has variables of its own: the grammar test holds that it reads none of its caller's. */
async function called(own: OwnFunction, params: Readonly<Record<string, unknown>>, frame: Frame): Promise<unknown> {
  const inner = frameOf(frame, frame.functions);
  for (const [at, name] of own.parameters.entries())
    inner.evaluator.scope.variables.set(name, params[name] ?? params[String(at)] ?? null);
  try {
    return await inner.evaluator.outputs(own.body);
  } catch (error) {
    if (error instanceof Returned) return error.outputs;
    throw error;
  }
}
