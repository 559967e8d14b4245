import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';

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

/** A change to the text of ssh2's client: the pattern must match once. */
type ClientChange = readonly [name: string, pattern: RegExp, instead: string];

const CLIENT_CHANGES: readonly ClientChange[] = [
  // ssh2 has every server prove each of its host keys after the login, for programs that record them: a round trip, and
  // as many signatures as the server has keys. kbuild verifies the key of the connection before the login, and records
  // no other.
  ['hostKeysProve', /^ *hostKeysProve\(this, data, [^]*?\n *\}\);\n/m, ''],
  // ssh2 asks first whether the server would take a key, and signs when it says so: a round trip. RFC 4252, 7, allows
  // the signature at once. Keys with several algorithms (RSA) are asked about as before.
  [
    'authPK of a key',
    /^( *)proto\.authPK\(username, curAuth\.key, keyAlgo\);\n/m,
    [
      'if (curAuth.keyAlgos) proto.authPK(username, curAuth.key, keyAlgo);',
      'else proto.authPK(username, curAuth.key, keyAlgo, (buf, cb) => {',
      '  const signature = curAuth.key.sign(buf);',
      "  if (signature instanceof Error) skipAuth('Skipping key authentication: ' + signature.message);",
      '  else cb(signature);',
      '});',
      '',
    ].join('\n'),
  ],
  // The first key signs behind the request for the service that it is for, as Dropbear's client does it, without the
  // answer that the service is there: a round trip. One with several algorithms (RSA) needs the server's words before
  // that answer, and an agent may ask its user.
  [
    'proto.service',
    /^ *proto\.service\('ssh-userauth'\);\n/m,
    "proto.service('ssh-userauth');\nif (signsAtOnce(cfg)) tryNextAuth();\n",
  ],
  [
    'SERVICE_ACCEPT',
    /if \(name === 'ssh-userauth'\)\n( *tryNextAuth\(\);)/,
    "if (name === 'ssh-userauth' && !signsAtOnce(cfg)) $1",
  ],
  [
    'class Client',
    /^class Client /m,
    [
      'function signsAtOnce({ authHandler }) {',
      '  const first = Array.isArray(authHandler) ? authHandler[0] : undefined;',
      "  return first?.type === 'publickey' && typeof first.key.type === 'string' && first.key.type !== 'ssh-rsa';",
      '}',
      'class Client ',
    ].join('\n'),
  ],
  // What a command reads is sent behind the request to run it, without the answer that it runs: a round trip for each
  // command. `early` gets the channel.
  [
    'reqExec',
    /^ *chan\._client\._protocol\.exec\(chan\.outgoing\.id, cmd, true\);\n/m,
    'chan._client._protocol.exec(chan.outgoing.id, cmd, true);\nopts.early?.(chan);\n',
  ],
];

/** ssh2's client spends round trips on what kbuild does not need. */
const client: Plugin = {
  name: 'client',
  setup: (build) => {
    build.onLoad({ filter: /\/ssh2\/lib\/client\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [name, pattern, replacement] of CLIENT_CHANGES) {
        const changed = contents.replace(pattern, replacement);
        if (changed === contents) throw new Error(`${path} has another ${name} than bundle.config.ts expects`);
        contents = changed;
      }
      return { contents };
    });
  },
};

/** What kbuild does not use of its libraries is left out, what it seldom uses is loaded late. */
const libraries: readonly Plugin[] = [
  native,
  client,
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
  const main = await build({
    ...common,
    ...asModules,
    entryPoints: ['src/cli/main.ts'],
    outfile: join(out, 'cli/main.js'),
    plugins: [late(basename(Object.keys(metafile.outputs)[0]!))],
  });
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
