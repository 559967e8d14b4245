/** What a call of a command gives it. */
import type { Node } from 'web-tree-sitter';
import { core, evaluate, type Evaluator, type Table } from './expressions.ts';

/** Parameters of a command by name; those without one under their number. `@table` gives those of a table. */
export async function parametersOf(elements: readonly Node[], evaluator: Evaluator): Promise<Record<string, unknown>> {
  const params: Record<string, unknown> = {};
  const rest = [...elements];
  for (let position = 0; rest.length > 0;) {
    const one = rest.shift()!;
    const value = async (node: Node): Promise<unknown> =>
      node.type === 'generic_token' ? node.text : evaluate(evaluator, node);
    if (one.type !== 'command_parameter') {
      if (!core(one).text.startsWith('@') || core(one).type !== 'variable')
        params[String(position++)] = await value(one);
      else
        for (const [name, given] of Object.entries((await evaluate(evaluator, one)) as Table))
          params[name.toLowerCase()] = given;
      continue;
    }
    const isSwitch = rest.length === 0 || rest[0]!.type === 'command_parameter';
    params[one.text.slice(1).toLowerCase()] = isSwitch ? true : await value(rest.shift()!);
  }
  return params;
}
