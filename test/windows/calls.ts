import type { Node } from 'web-tree-sitter';
import { nodesOf } from './grammar.ts';

/** One call of a cmdlet or a function, as the grammar sees it. */
export interface Call {
  readonly name: string;
  /** Names of parameters as they are written, without the dash. */
  readonly parameters: readonly string[];
  /** Arguments that belong to no parameter. */
  readonly positional: readonly string[];
  /** Names of splatted variables. */
  readonly splatted: readonly string[];
  readonly line: number;
}

/** Parameters of the cmdlets in use that take no value. */
const SWITCHES: ReadonlySet<string> = new Set(
  `AllowStartIfOnBatteries Compress Descending Directory DontStopIfGoingOnBatteries File Force IncludeManagementTools
   NoNewWindow Online PassThru Raw Recurse Unique UseBasicParsing Wait`
    .toLowerCase()
    .split(/\s+/),
);

/** Every call by name below a node. Calls through `&` have no name. `functions`: those of scripts have no switches. */
export const callsIn = (tree: Node, functions: ReadonlyMap<string, unknown> = new Map()): readonly Call[] =>
  nodesOf(tree, 'command').flatMap((command) => {
    const name = command.children.find(({ type }) => type === 'command_name')?.text;
    return name === undefined ? [] : [callOf(command, name, functions.has(name.toLowerCase()) ? NONE : SWITCHES)];
  });

const NONE: ReadonlySet<string> = new Set();

function callOf(command: Node, name: string, switches: ReadonlySet<string>): Call {
  const elements = command.children.find(({ type }) => type === 'command_elements')?.children ?? [];
  const parameters: string[] = [];
  const positional: string[] = [];
  const splatted: string[] = [];
  let wantsValue = false;
  for (const { type, text } of elements) {
    if (type === 'command_parameter') {
      parameters.push(text.slice(1));
      wantsValue = !switches.has(text.slice(1).toLowerCase());
    } else if (type === 'command_argument_sep') {
      // `-Confirm:$false`: the value of a switch.
      if (text.includes(':')) wantsValue = true;
    } else if (type !== 'redirection') {
      if (/^@\w+$/.test(text)) splatted.push(text.slice(1));
      else if (!wantsValue) positional.push(text);
      wantsValue = false;
    }
  }
  return { name, parameters, positional, splatted, line: command.startPosition.row + 1 };
}

/** Parameters of every function that a script defines, by the function's name in lower case. */
export const functionsIn = (tree: Node): ReadonlyMap<string, readonly string[]> =>
  new Map(
    nodesOf(tree, 'function_statement').map((one) => [
      nodesOf(one, 'function_name')[0]!.text.toLowerCase(),
      nodesOf(one, 'param_block', 'function_parameter_declaration')
        .slice(0, 1)
        .flatMap((block) =>
          nodesOf(block, 'script_parameter').map((parameter) =>
            parameter.children.find(({ type }) => type === 'variable')!.text.slice(1),
          ),
        ),
    ]),
  );

/** Keys that a script puts into a table which it splats. */
export function splattedKeys(text: string, variable: string): readonly string[] {
  const literal = new RegExp(`\\$${variable}\\s*=\\s*@\\{([\\s\\S]*?)\\}`, 'g');
  const added = new RegExp(`\\$${variable}(?:\\.(\\w+)|\\['(\\w+)'\\])\\s*=`, 'g');
  return [
    ...[...text.matchAll(literal)].flatMap(([, body]) =>
      [...body!.matchAll(/(?:^|[;\n])\s*(\w+)\s*=/g)].map(([, key]) => key!),
    ),
    ...[...text.matchAll(added)].map(([, a, b]) => (a ?? b)!),
  ];
}
