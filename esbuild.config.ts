/** `npm run build`: the program and the library as a few files in dist/, the library's types, and the licenses. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLibrary, buildProgram } from './bundle.config.ts';
import { declarations } from './declarations.config.ts';

const root = fileURLToPath(new URL('./', import.meta.url));
const at = (...path: string[]) => join(root, ...path);

const made = [...(await buildProgram('dist')), await buildLibrary('dist')];
chmodSync(at('dist/cli/main.js'), 0o755);
const outputs = new Set(made.flatMap((metafile) => Object.keys(metafile.outputs)));
for (const old of readdirSync(at('dist'), { recursive: true, encoding: 'utf8' }))
  if (/\.c?js$/.test(old) && !outputs.has(`dist/${old}`)) rmSync(at('dist', old));

rmSync(at('dist/types'), { recursive: true, force: true });
for (const [name, text] of declarations(at('src'), 'library.ts')) {
  const file = at('dist/types', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** What the licenses of the bundled libraries ask for. */
const bundled = new Set(
  made
    .flatMap((metafile) => Object.keys(metafile.inputs))
    .flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []),
);
const licenses = [...bundled].toSorted().map((name) => {
  const folder = at('node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no license file`);
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
});
writeFileSync(at('dist/LICENSES'), licenses.join(`\n${'-'.repeat(80)}\n\n`));

const link = at('node_modules/.bin/kbuild');
if (existsSync(at('node_modules/.bin'))) {
  rmSync(link, { force: true });
  symlinkSync('../../dist/cli/main.js', link);
}
