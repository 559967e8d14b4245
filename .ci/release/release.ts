/**
 * `npm run release -- --dry-run [--only KIND,…]`: makes all that a release holds in dist/release/, with SHA256SUMS. The
 * same commit makes the same bytes. Nothing is published from here: the workflow `release` does that.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { executable, nodeOf, oneFile } from './executables.ts';
import { npmPackage } from './npm-package.ts';
import { deb, type Described, rpm } from './packages.ts';
import { NODE, PLATFORMS } from './platforms.ts';
import { writeSums } from './sums.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string', default: join(root, 'dist/release') },
  },
});
if (!values['dry-run']) {
  console.error(
    'release: nothing is published from here\n  → --dry-run makes all files; the workflow "release" publishes',
  );
  process.exit(2);
}
const isWanted = (kind: string): boolean => values.only?.split(',').includes(kind) !== false;
const { out } = values;
const cache = join(root, 'node_modules/.cache/kbuild-release');
const described = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Described;
const work = mkdtempSync(join(tmpdir(), 'kbuild-release-'));
/** The time of the commit: what is made of it has no other. */
const epoch = Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));

/** The executables, and the packages of those for Linux. */
async function executables(): Promise<void> {
  const script = join(work, 'kbuild.cjs');
  await oneFile(root, described.version, script);
  const own = PLATFORMS.find(({ name }) => name === `${process.platform}-${process.arch}`);
  if (own === undefined) throw new Error(`executables are made on ${PLATFORMS.map(({ name }) => name).join(', ')}`);
  const builder = nodeOf(own, cache);
  for (const platform of PLATFORMS.filter(({ name }) => isWanted(name))) {
    const name = executable(platform, builder, nodeOf(platform, cache), script, out);
    if (platform.linux === undefined || !isWanted('packages')) continue;
    const common = { epoch, executable: join(out, name), out };
    deb(root, described, { ...common, arch: platform.linux.deb, stage: join(work, 'deb') });
    rpm(root, described, { ...common, arch: platform.linux.rpm, stage: join(work, 'rpm') });
  }
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
try {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (isWanted('npm')) npmPackage(root, out, join(work, 'npm'));
  if (PLATFORMS.some(({ name }) => isWanted(name))) await executables();
  const made = await writeSums(out);
  console.log(`${made.join('\n')}\nmade in ${out}, with Node ${NODE}; nothing was published`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
