import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { ssh2 } from './ssh2.config.ts';

const root = fileURLToPath(new URL('./', import.meta.url));

/** A module of the bundle that is not what its library has; what it requires itself is found as from its importer. */
const instead = (name: string, filter: RegExp, importer: RegExp, contents: string): Plugin => ({
  name,
  setup: (build) => {
    build.onResolve({ filter }, (found) =>
      importer.test(found.importer) ? { path: found.path, namespace: name, pluginData: found.resolveDir } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: name }, ({ pluginData }) => ({
      contents,
      resolveDir: pluginData as string,
    }));
  },
});

/** ssh2's native parts are used where they were built. */
const native: Plugin = {
  name: 'native',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/crypto\/build\/Release\/sshcrypto\.node$/ }, () => ({
      path: 'ssh2/lib/protocol/crypto/build/Release/sshcrypto.node',
      external: true,
    }));
    build.onResolve({ filter: /^cpu-features$/ }, () => ({ path: 'cpu-features', external: true }));
  },
};

/** What kbuild does not use of its libraries is left out, what it seldom uses is loaded late. */
const libraries: readonly Plugin[] = [
  native,
  ssh2,
  instead('no-locales', /\/locales\/index\.js$/, /\/zod\//, 'export {}'),
  // ssh2's servers, its keys' generator and its tunnels for HTTP load Node's HTTP and TLS.
  instead('no-servers', /^\.\/(?:http-agents|server|keygen)\.js$/, /\/ssh2\/lib\/index\.js$/, 'module.exports = {}'),
  // Only a key with a passphrase needs it.
  instead(
    'late-bcrypt',
    /^bcrypt-pbkdf$/,
    /\/ssh2\/lib\/protocol\/keyParser\.js$/,
    "exports.pbkdf = (...args) => require('bcrypt-pbkdf').pbkdf(...args)",
  ),
  // kbuild draws with a renderer of its own. listr2's default one would load these when it begins.
  instead('no-default-renderer', /^(?:log-update|cli-truncate|wrap-ansi)$/, /\/listr2\//, 'export {}'),
  // Only load balancers have files that are made of a template. Its own entry would load the file system's functions too.
  instead(
    'late-handlebars',
    /^handlebars$/,
    /\/src\//,
    "export default { compile: (...args) => require('handlebars/dist/cjs/handlebars.js').default.compile(...args) }",
  ),
];

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** CommonJS libraries ask for Node's own modules by `require`. It is made where it is used: most of the chunks do not use it. */
export const MODULE_BANNER = [
  "import { createRequire as requireFrom } from 'node:module';",
  'let requireHere; const require = (name) => (requireHere ??= requireFrom(import.meta.url))(name);',
].join(' ');

/** CommonJS has no `import.meta.url`. */
const CJS_BANNER = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;";

const asModules = {
  format: 'esm',
  banner: { js: MODULE_BANNER },
  // Where ssh2 finds a program for Windows' Pageant, which kbuild does not use.
  define: { __dirname: 'import.meta.dirname' },
} as const satisfies BuildOptions;

/** A script of `vm` or of a single executable has no `import()`: it becomes a late `require`. */
const asScript = { format: 'cjs', supported: { 'dynamic-import': false } } as const satisfies BuildOptions;

/** main.ts imports what follows late: the program, which compiled.ts runs, and what answers a shell, which stays small. */
const late = (program: string): Plugin => ({
  name: 'late',
  setup: (built) => {
    built.onResolve({ filter: /^\.\/completion\/run-complete\.ts$/ }, () => ({
      path: '../run-complete.js',
      external: true,
    }));
    built.onResolve({ filter: /^\.\/program\.ts$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'late',
      pluginData: resolveDir,
    }));
    built.onLoad({ filter: /.*/, namespace: 'late' }, ({ pluginData }) => ({
      resolveDir: pluginData as string,
      contents: `import { compiled } from './compiled.ts';
        export const { run } = compiled(new URL('../${program}', import.meta.url));`,
    }));
  },
});

/**
 * Writes a bundle in ASCII alone: V8 reads a text of 3 MB that has one other character in twice the memory and time.
 * esbuild has escaped them in strings; they are left in regular expressions and templates, where `\u` means the same.
 */
function inAscii(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (/\braw`[^`]*[^\0-\x7f]/.test(text)) throw new Error(`${file} has a raw template beyond ASCII: escape it`);
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, text.replaceAll(/[^\0-\x7f]/g, escaped));
}

/** The program in `out`: cli/main.js and, beside the folder cli, the file that it runs, with a hash of its text in its name. */
export async function buildProgram(out: string, plugins: readonly Plugin[] = []): Promise<readonly Metafile[]> {
  const { metafile } = await build({
    ...common,
    entryPoints: ['src/cli/program.ts'],
    outdir: out,
    entryNames: 'program-[hash]',
    outExtension: { '.js': '.cjs' },
    ...asScript,
    banner: { js: CJS_BANNER },
    define: { 'import.meta.url': 'importMetaUrl' },
    plugins: [...plugins, ...libraries],
  });
  for (const file of Object.keys(metafile.outputs)) inAscii(join(root, file));
  // As a module it would load Node's loader of modules, which nothing else needs: 9 ms.
  const main = await build({
    ...common,
    format: 'cjs',
    entryPoints: ['src/cli/main.ts'],
    outfile: join(out, 'cli/main.js'),
    banner: { js: CJS_BANNER },
    define: { 'import.meta.url': 'importMetaUrl' },
    plugins: [late(basename(Object.keys(metafile.outputs)[0]!))],
  });
  writeFileSync(resolve(root, out, 'cli/package.json'), '{ "type": "commonjs" }\n');
  return [metafile, main.metafile];
}

/**
 * The library in `out`, library.js, run-complete.js, which answers shells, and chunks beside them, from where ../templates is
 * the same folder as from src.
 */
export async function buildLibrary(out: string): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    ...asModules,
    entryPoints: { library: 'src/library.ts', 'run-complete': 'src/cli/completion/run-complete.ts' },
    outdir: out,
    splitting: true,
    plugins: [...libraries],
  });
  return metafile;
}

/** The program as one CommonJS file, all that it loads late included. `plugins` put templates and version into it. */
export async function buildOneFile(outfile: string, plugins: readonly Plugin[]): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: ['src/cli/main.ts'],
    outfile,
    ...asScript,
    banner: { js: CJS_BANNER },
    define: { 'import.meta.url': 'importMetaUrl' },
    plugins: [...plugins, ...libraries],
  });
  return metafile;
}
