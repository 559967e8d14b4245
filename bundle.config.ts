import { readFileSync } from 'node:fs';
import type { BuildOptions, Plugin } from 'esbuild';

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

/**
 * ssh2 has every server prove each of its host keys after the login, for programs that record them: a round trip, and as
 * many signatures as the server has keys. kbuild verifies the key of the connection before the login, and records no other.
 */
const noProofs: Plugin = {
  name: 'no-proofs',
  setup: (build) => {
    build.onLoad({ filter: /\/ssh2\/lib\/client\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(/^ *hostKeysProve\(this, data, [^]*?\n *\}\);\n/m, '');
      if (contents === text) throw new Error(`${path} has another call of hostKeysProve than bundle.config.ts expects`);
      return { contents };
    });
  },
};

/**
 * How the program becomes a few files, libraries included: Node spends more time on finding, reading and linking hundreds of
 * modules than on running them. What kbuild does not use of its libraries is left out, what it seldom uses is loaded late.
 */
export const bundleOptions: BuildOptions = {
  entryPoints: ['src/cli/main.ts', 'src/library.ts'],
  outbase: 'src',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // CommonJS libraries ask for Node's own modules by `require`. It is made where it is used: most of the chunks do not use it.
  banner: {
    js: [
      "import { createRequire as requireFrom } from 'node:module';",
      'let requireHere; const require = (name) => (requireHere ??= requireFrom(import.meta.url))(name);',
    ].join(' '),
  },
  // Where ssh2 finds a program for Windows' Pageant, which kbuild does not use.
  define: { __dirname: 'import.meta.dirname' },
  plugins: [
    native,
    noProofs,
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
    // Only load balancers have files that are made of a template.
    instead(
      'late-handlebars',
      /^handlebars$/,
      /\/src\//,
      "export default { compile: (...args) => requireFrom(import.meta.url)('handlebars').compile(...args) }",
    ),
  ],
  logLevel: 'warning',
};
