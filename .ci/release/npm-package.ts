import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What `package.json` of the repository holds, as far as it is changed here. */
interface Package {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** Of no use to who installs it: all of it is in the bundle, and the build has run. */
const LEFT_OUT: ReadonlySet<string> = new Set(['dependencies', 'devDependencies', 'scripts', 'allowScripts']);

/** The published package.json: it installs nothing else and runs no script. */
export const publishedPackage = (own: Package): Package => ({
  ...(Object.fromEntries(Object.entries(own).filter(([field]) => !LEFT_OUT.has(field))) as Package),
  files: ['dist', '!dist/.tsbuildinfo', 'templates', 'inventories', 'docs/man'],
});

/**
 * Packs the npm package of the built tree `root` into `out`, by way of the empty folder `stage`; returns the file's
 * name. The same tree makes the same bytes: npm gives all files one time.
 */
export function npmPackage(root: string, out: string, stage: string): string {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package;
  mkdirSync(join(stage, 'docs'), { recursive: true });
  for (const part of ['dist', 'templates', 'inventories', 'docs/man', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    cpSync(join(root, part), join(stage, part), {
      recursive: true,
      filter: (from) => !from.startsWith(join(root, 'dist/release')),
    });
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedPackage(own), undefined, 2)}\n`);
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], { cwd: stage });
  const packed = `${own.name}-${own.version}.tgz`;
  const name = `${own.name}-${own.version}-npm.tgz`;
  renameSync(join(out, packed), join(out, name));
  rmSync(stage, { recursive: true });
  return name;
}
