import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LabError } from './errors.ts';
import type { Site } from './downloads.ts';
import { withLock } from './flock.ts';
import { goToolchain } from './go.ts';
import { paths } from './paths.ts';
import { progress } from './progress.ts';

/** Something slow that is made once: a folder, made by a script, kept under the hash of all that it is made from. */
export interface Artifact {
  /** Unique among the artifacts, and its folder's name. */
  readonly name: string;
  /** The folder below build/ with build.sh and what it needs; the script runs in a copy of it. */
  readonly recipe: string;
  /** Files, as seen from build/shared, that the script reads: they are put beside it. Part of the hash. */
  readonly shared?: readonly string[];
  /** Variables of the script: its parameters. Part of the hash. */
  readonly params?: Readonly<Record<string, string>>;
  /** Variables of the script that name the folders of other artifacts. Part of the hash by what those are made from. */
  readonly needs?: Readonly<Record<string, Artifact>>;
  /** Variables of the script that say where and how on this machine, not what. No part of the hash. */
  readonly settings?: Readonly<Record<string, string>>;
  /** It needs a Go toolchain. */
  readonly go?: true;
  /** It would be downloaded, if this site answered. No part of the hash. */
  readonly publishedAt?: Site;
}

const RECIPES = join(import.meta.dirname, 'build');

/** The folder that the artifact is in, or will be. */
export const folderOf = (artifact: Artifact): string => join(paths.build, `${artifact.name}-${keyOf(artifact)}`);

/** Whether it is there; a folder is there whole or not at all. */
export const isMade = (artifact: Artifact): boolean => existsSync(folderOf(artifact));

/** The artifact's needs and itself, each before what needs it, none twice. */
export function inOrder(artifacts: readonly Artifact[]): readonly Artifact[] {
  const all = artifacts.flatMap((artifact) => [...inOrder(Object.values(artifact.needs ?? {})), artifact]);
  return [...new Map(all.map((artifact) => [artifact.name, artifact])).values()];
}

/** Makes the artifact unless it is there; whatever it needs must be. Throws LabError with the end of the script's output. */
export async function make(artifact: Artifact): Promise<string> {
  const folder = folderOf(artifact);
  if (existsSync(folder)) return folder;
  return withLock(`build-${artifact.name}`, async () => {
    if (existsSync(folder)) return folder;
    progress(`${artifact.name}: build`);
    const start = performance.now();
    const work = join(paths.build, `.work-${artifact.name}`);
    const out = join(paths.build, `.out-${artifact.name}`);
    for (const dir of [work, out]) await rm(dir, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    await cp(join(RECIPES, artifact.recipe), work, { recursive: true });
    for (const file of artifact.shared ?? []) await cp(join(RECIPES, 'shared', file), join(work, basename(file)));
    await runRecipe(artifact, work, out);
    await rename(out, folder);
    await rm(work, { recursive: true, force: true });
    progress(`${artifact.name}: built in ${((performance.now() - start) / 1000).toFixed(0)} s`);
    return folder;
  });
}

async function runRecipe(artifact: Artifact, work: string, out: string): Promise<void> {
  const log = join(paths.build, `${artifact.name}.log`);
  const needs = Object.entries(artifact.needs ?? {}).map(([variable, need]) => [variable, folderOf(need)] as const);
  const file = await open(log, 'w');
  const child = spawn('sh', ['build.sh'], {
    cwd: work,
    stdio: ['ignore', file.fd, file.fd],
    env: {
      ...process.env,
      LC_ALL: 'C',
      // The build must not depend on the user's settings. All programs are linked without DWARF (`-s -w`), and
      // compiling without it takes an eighth less.
      ...{ GOFLAGS: '-mod=mod -buildvcs=false -gcflags=all=-dwarf=false', CGO_ENABLED: '0', GOWORK: 'off' },
      ...(artifact.go === true ? (await goToolchain()).env : {}),
      ...artifact.settings,
      ...artifact.params,
      ...Object.fromEntries(needs),
      OUT: out,
    },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  await file.close();
  if (code === 0) return;
  const end = (await readFile(log, 'utf8')).trim().split('\n').slice(-15).join('\n');
  throw new LabError(`${artifact.name}: build failed (all of it in ${log})\n${end}`);
}

function keyOf(artifact: Artifact): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([artifact.recipe, Object.entries(artifact.params ?? {}).sort()]));
  for (const [variable, need] of Object.entries(artifact.needs ?? {}))
    hash.update(`${variable} ${need.name} ${keyOf(need)}`);
  const shared = (artifact.shared ?? []).map((file) => join(RECIPES, 'shared', file));
  for (const file of [...filesBelow(join(RECIPES, artifact.recipe)), ...shared])
    hash.update(relative(RECIPES, file)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}

function filesBelow(dir: string): readonly string[] {
  return readdirSync(dir)
    .sort()
    .map((name) => join(dir, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
}
