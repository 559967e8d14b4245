import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** TypeScript's code for "Computed property names … cannot be inferred with --isolatedDeclarations". */
const COMPUTED_NAME = 9038;

/**
 * The declarations of a file of `folder` and of all files that these declarations import, by name (`library.d.ts`). Each is
 * made from its own file alone, which takes milliseconds. @throws Error for an export whose type is not written down
 */
export function declarations(folder: string, entry: string): ReadonlyMap<string, string> {
  const made = new Map<string, string>();
  const queue = [entry];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const target = name.replace(/\.ts$/, '.d.ts');
    if (made.has(target)) continue;
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(join(folder, name), 'utf8'), {
      fileName: name,
      compilerOptions: { target: ts.ScriptTarget.ES2023, isolatedDeclarations: true },
      reportDiagnostics: true,
    });
    // A method with a computed name keeps that name.
    const [first] = diagnostics.filter(({ code }) => code !== COMPUTED_NAME);
    if (first !== undefined) throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(first.messageText, '\n')}`);
    const from = dirname(name);
    for (const [, specifier] of outputText.matchAll(/from '(\.[^']+\.ts)'/g)) queue.push(join(from, specifier!));
    made.set(target, outputText.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  }
  return made;
}
