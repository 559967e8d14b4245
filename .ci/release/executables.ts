import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { buildOneFile } from '../../bundle.config.ts';
import { executableName, NODE, type PLATFORMS } from './platforms.ts';

type Platform = (typeof PLATFORMS)[number];

/** Puts other code in place of a part of a source file, and fails where the part is not there any more. */
const replaced = (file: RegExp, parts: readonly (readonly [from: RegExp, to: string])[]): Plugin => ({
  name: 'one-file',
  setup: (build) => {
    build.onLoad({ filter: file }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [from, to] of parts) {
        if (!from.test(contents)) throw new Error(`${path} has no ${String(from)}, which executables.ts expects`);
        contents = contents.replace(from, () => to);
      }
      return { contents, loader: 'ts' };
    });
  },
});

/** All files below templates/, by name. */
function templates(root: string): Readonly<Record<string, string>> {
  const folder = join(root, 'templates');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  return Object.fromEntries(files.map((file) => [relative(folder, file), readFileSync(file, 'utf8')]));
}

/** The program as one CommonJS file that reads no other: templates and version are in it. */
export async function oneFile(root: string, version: string, out: string): Promise<void> {
  const text = JSON.stringify(version);
  await buildOneFile(out, [
    replaced(/\/src\/templates\.ts$/, [
      [/readFileSync\(`\$\{FOLDER\}\$\{name\}`, 'utf8'\)/, 'inside(name)'],
      [/^const FOLDER = .*\n/m, ''],
      [
        /^const texts = /m,
        `const TEMPLATES: Readonly<Record<string, string>> = ${JSON.stringify(templates(root))};
         function inside(name: string): string {
           if (!Object.hasOwn(TEMPLATES, name)) throw new Error(\`no template \${name}\`);
           return TEMPLATES[name]!;
         }
         const texts = `,
      ],
    ]),
    replaced(/\/src\/versions\.ts$/, [
      [/\(JSON\.parse\(readFileSync\(new URL\('\.\.\/package\.json'[^]*?\.version;/, `${text};`],
    ]),
    replaced(/\/src\/cli\/main\.ts$/, [
      [/^#!.*\n/, ''],
      [/^const \{ version \} = JSON\.parse\([^]*?\n\};\n/m, `const version = ${text};\n`],
      // A single executable keeps no compiled code.
      [/^async function start\(\)[^]*$/m, ''],
      [
        /$/,
        `async function start(): Promise<void> {
           if (process.argv[2] === '--version' || process.argv[2] === '-V') process.stdout.write(\`\${version}\\n\`);
           else if (process.argv[2] === '__complete') {
             const { completionAnswer } = await import('./completion/run-complete.ts');
             process.stdout.write(await completionAnswer({ env: process.env, cwd: process.cwd() }, process.argv.slice(3)));
           } else {
             const { run } = await import('./program.ts');
             process.exitCode = await run(process.argv, version);
           }
         }
         void start();`,
      ],
    ]),
  ]);
}

/** The binary of Node for a platform, from npm. @throws Error for other bytes than the table names */
export function nodeOf({ package: name, integrity, node }: Platform, cache: string): string {
  const folder = join(cache, `${name}-${NODE}`);
  const binary = join(folder, 'package', node);
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, `${name}@${NODE}`]);
  const file = join(folder, `${name}-${NODE}.tgz`);
  const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (hash !== integrity) throw new Error(`${name}@${NODE} is ${hash}, not ${integrity}`);
  const part = join(folder, 'part');
  mkdirSync(part, { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', part, `package/${node}`]);
  renameSync(join(part, 'package'), join(folder, 'package'));
  rmSync(file);
  return binary;
}

/**
 * Writes the executable of a platform: Node's binary with the script in it. `builder`: a Node of the same version that
 * runs here. Compiled code is added where the platform is this one: V8's is good for no other.
 */
export function executable(platform: Platform, builder: string, node: string, script: string, out: string): string {
  const name = executableName(platform);
  const output = join(out, name);
  const isOwn = platform.name === `${process.platform}-${process.arch}`;
  const config = `${script}.${platform.name}.json`;
  writeFileSync(
    config,
    JSON.stringify({
      // Without its folder: the path is in the executable.
      main: basename(script),
      mainFormat: 'commonjs',
      executable: node,
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: isOwn,
      // NODE_OPTIONS of the environment are for other programs.
      execArgvExtension: 'none',
    }),
  );
  // V8's hashes come from this seed, and with them the order in its compiled code; it is accepted without the flag too.
  execFileSync(builder, ['--random-seed=1', '--build-sea', config], {
    cwd: dirname(script),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(config);
  chmodSync(output, 0o755);
  return name;
}
