/** Runs the statements of a script for Windows over the tree of its grammar; its commands do what the caller says. */
import type { Node } from 'web-tree-sitter';
import { nodesOf, powershellParser, problemsOf } from '../grammar.ts';
import { ScriptFailure } from '../host/script.ts';
import {
  asList,
  asValue,
  core,
  evaluate,
  isTrue,
  keptValue,
  notUnderstood,
  partsOf,
  type Evaluator,
  type Scope,
  type Table,
} from './expressions.ts';

/** What a command does with its parameters, by their names in lower case; what it puts out. A switch is true. */
export type Command = (params: Readonly<Record<string, unknown>>) => unknown;

/** A script's parameters, its environment, and every command that it may call, by its name. */
export interface ScriptRun {
  readonly params: Readonly<Record<string, unknown>>;
  readonly environment: Map<string, string>;
  readonly commands: Readonly<Record<string, Command>>;
}

let parser: Promise<(text: string) => Node> | undefined;

/** Runs it to its end. @throws ScriptFailure for its own throw; Error for what is not understood, and for an unknown command */
export async function interpret(text: string, run: ScriptRun): Promise<void> {
  parser ??= powershellParser();
  const tree = (await parser)(text);
  const problems = problemsOf(tree);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const scope: Scope = { variables: new Map(), environment: run.environment };
  const evaluator: Evaluator = { scope, outputs: (list) => outputsOf(list, evaluator, run) };
  await bind(tree, evaluator, run.params);
  const body = partsOf(tree).find(({ type }) => type === 'statement_list');
  await evaluator.outputs(body);
}

async function bind(tree: Node, evaluator: Evaluator, params: ScriptRun['params']): Promise<void> {
  const given = new Map(Object.entries(params).map(([name, value]) => [name.toLowerCase(), value]));
  for (const declared of nodesOf(tree, 'script_parameter')) {
    const parts = partsOf(declared);
    const name = parts
      .find(({ type }) => type === 'variable')!
      .text.slice(1)
      .toLowerCase();
    const fallback = parts.find(({ type }) => type === 'script_parameter_default');
    const value = given.has(name)
      ? given.get(name)
      : fallback === undefined
        ? null
        : await evaluate(evaluator, partsOf(fallback)[0]!);
    evaluator.scope.variables.set(name, value);
  }
}

async function outputsOf(list: Node | undefined, evaluator: Evaluator, run: ScriptRun): Promise<readonly unknown[]> {
  if (list === undefined) return [];
  const said: unknown[] = [];
  const statements = ['statement_list', 'statement_block', 'script_block', 'script_block_body'];
  for (const one of statements.includes(list.type) ? partsOf(list) : [list])
    said.push(
      ...(statements.includes(one.type) ? await outputsOf(one, evaluator, run) : await statement(one, evaluator, run)),
    );
  return said;
}

async function statement(whole: Node, evaluator: Evaluator, run: ScriptRun): Promise<readonly unknown[]> {
  const node = core(whole);
  const parts = partsOf(node);
  switch (node.type) {
    case 'empty_statement':
      return [];
    case 'assignment_expression':
      await assign(node, evaluator);
      return [];
    case 'if_statement':
      return chosen(node, evaluator);
    case 'foreach_statement': {
      const [variable, list, block] = parts as [Node, Node, Node];
      const said: unknown[] = [];
      for (const one of asList(asValue(await evaluator.outputs(list)))) {
        evaluator.scope.variables.set(variable.text.slice(1).toLowerCase(), one);
        said.push(...(await evaluator.outputs(block)));
      }
      return said;
    }
    case 'flow_control_statement':
      if (!node.text.startsWith('throw')) throw notUnderstood(node);
      throw new ScriptFailure(String(asValue(await evaluator.outputs(parts[0]))));
    case 'pipeline_chain': {
      const [first, second, ...others] = parts;
      if (second?.text !== 'Out-Null' || others.length > 0) throw notUnderstood(node);
      await statement(first!, evaluator, run);
      return [];
    }
    case 'command':
      return asList(await command(node, evaluator, run));
    default:
      return asList(await evaluate(evaluator, node));
  }
}

async function assign(node: Node, evaluator: Evaluator): Promise<void> {
  const [left, operator, right] = partsOf(node) as [Node, Node, Node];
  const target = core(left);
  const value = await keptValue(evaluator, right);
  if (target.type === 'member_access') {
    const [of, name] = partsOf(target) as [Node, Node];
    ((await evaluate(evaluator, of)) as Table)[name.text] = value;
    return;
  }
  if (target.type !== 'variable') throw notUnderstood(node);
  const name = target.text.slice(1).toLowerCase();
  const { variables } = evaluator.scope;
  if (operator.text === '+=') variables.set(name, [...asList(variables.get(name)), ...asList(value)]);
  else if (operator.text === '=') variables.set(name, value);
  else throw notUnderstood(node);
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

async function command(node: Node, evaluator: Evaluator, run: ScriptRun): Promise<unknown> {
  const [name, elements] = partsOf(node) as [Node, Node | undefined];
  const does = run.commands[name.text];
  if (does === undefined) throw new Error(`${name.text} has no stand-in`);
  const params: Record<string, unknown> = {};
  const rest = elements === undefined ? [] : [...partsOf(elements)];
  while (rest.length > 0) {
    const parameter = rest.shift()!;
    if (parameter.type !== 'command_parameter') throw notUnderstood(node);
    const isSwitch = rest.length === 0 || rest[0]!.type === 'command_parameter';
    const value = isSwitch ? undefined : rest.shift()!;
    params[parameter.text.slice(1).toLowerCase()] =
      value === undefined ? true : value.type === 'generic_token' ? value.text : await evaluate(evaluator, value);
  }
  return does(params);
}
