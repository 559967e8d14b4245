import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** TypeScript's code for "Computed property names … cannot be inferred with --isolatedDeclarations". */
const COMPUTED_NAME = 9038;

/**
 * The declarations of a file of `folder` and of all files that these declarations import, by name (`library.d.ts`). Each
 * is made from its own file alone, which takes milliseconds. The compiler's option `isolatedDeclarations` would hold all
 * of src to this, and not only these files. @throws Error that names every export whose type is not written down
 */
export function declarations(folder: string, entry: string): ReadonlyMap<string, string> {
  const made = new Map<string, string>();
  const untyped: string[] = [];
  const queue = [entry];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const target = name.replace(/\.ts$/, '.d.ts');
    if (made.has(target)) continue;
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(join(folder, name), 'utf8'), {
      fileName: name,
      compilerOptions: { target: ts.ScriptTarget.ES2023, isolatedDeclarations: true },
      reportDiagnostics: true,
    });
    for (const { code, file, start, messageText } of diagnostics) {
      // A method with a computed name keeps that name.
      if (code === COMPUTED_NAME) continue;
      const line = (file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) + 1;
      untyped.push(`${join(folder, name)}:${String(line)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
    }
    const from = dirname(name);
    for (const [, specifier] of outputText.matchAll(/from '(\.[^']+\.ts)'/g)) queue.push(join(from, specifier!));
    made.set(target, outputText.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  }
  if (untyped.length > 0) throw new Error(untyped.join('\n'));
  return made;
}
