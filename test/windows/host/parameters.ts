/** A parameter of a script, as its param() block declares it. */
interface Declared {
  readonly name: string;
  readonly mandatory: boolean;
}

/** The text inside the script's param(...). */
function block(script: string): string {
  const start = /(?:^|\n)param\(/.exec(script);
  if (start === null) return '';
  let depth = 0;
  for (let i = start.index + start[0].length - 1; i < script.length; i++) {
    if (script[i] === '(') depth++;
    if (script[i] === ')' && --depth === 0) return script.slice(start.index + start[0].length, i);
  }
  throw new Error('param( is never closed');
}

/** What a script takes. Good for the plain style of kbuild's scripts, no more. */
export const declared = (script: string): readonly Declared[] =>
  [...block(script).matchAll(/((?:\[(?:[^[\]]|\[[^\]]*\])*\]\s*)*)\$(\w+)/g)]
    .filter(([, , name]) => !['true', 'false', 'null'].includes(name!))
    .map(([, attributes, name]) => ({ name: name!, mandatory: /Mandatory = \$true/.test(attributes!) }));

/** Why PowerShell would not bind these parameters; undefined when it would. */
export function bindingProblem(script: string, given: readonly string[]): string | undefined {
  const known = declared(script);
  const names = new Set(known.map(({ name }) => name.toLowerCase()));
  const odd = given.find((name) => !names.has(name.toLowerCase()));
  if (odd !== undefined) return `A parameter cannot be found that matches parameter name '${odd}'.`;
  const has = new Set(given.map((name) => name.toLowerCase()));
  const missing = known.filter(({ name, mandatory }) => mandatory && !has.has(name.toLowerCase()));
  return missing.length === 0
    ? undefined
    : `Cannot process command because of one or more missing mandatory parameters: ${missing.map(({ name }) => name).join(' ')}.`;
}
