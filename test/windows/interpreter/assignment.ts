/** Assignments: of variables, and of what a table holds. */
import type { Node } from 'web-tree-sitter';
import { core, evaluate, keptValue, notUnderstood, partsOf, type Evaluator, type Table } from './expressions.ts';
import { asList } from './operators.ts';

/** The name of a variable, in lower case. */
export const nameOf = (variable: Node): string => variable.text.slice(1).toLowerCase();

/** Carries out an assignment. @throws Error of what is not understood */
export async function assign(node: Node, evaluator: Evaluator): Promise<void> {
  const [target, operator, right] = partsOf(node).map(core) as [Node, Node, Node];
  const value = await keptValue(evaluator, right);
  if (target.type === 'member_access') {
    const [of, name] = partsOf(target) as [Node, Node];
    ((await evaluate(evaluator, of)) as Table)[name.text] = value;
    return;
  }
  if (target.type !== 'variable') throw notUnderstood(node);
  const { variables } = evaluator.scope;
  const before = variables.get(nameOf(target));
  if (operator.text === '=') variables.set(nameOf(target), value);
  else if (operator.text !== '+=') throw notUnderstood(node);
  else if (typeof before === 'number') variables.set(nameOf(target), before + Number(value));
  else variables.set(nameOf(target), [...asList(before), ...asList(value)]);
}
