import { existsSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Artifact, folderOf, inOrder, isMade, make } from './artifact.ts';
import { downloadSite, siteAnswers } from './downloads.ts';
import { ensureKeys } from './keys.ts';
import { mirrors } from './mirrors.ts';
import { paths } from './paths.ts';
import { recipes, type Recipes } from './recipes.ts';
import { installPackages, requireDisk, requireGo, requireMachine } from './requirements.ts';
import { type Release, RELEASES } from './versions.ts';

/** GiB that a build from nothing needs. */
const DISK_OF_BUILD = 15;

/** What hosts need to boot: folders of artifacts. */
export interface Built {
  /** The tree that hosts of that release lie over. */
  readonly base: (release: Release) => string;
  readonly tools: string;
}

/**
 * Makes everything slow that is missing, of Debian's releases what hosts of these need, and lets the services serve it.
 * Returns within a second when nothing is missing.
 */
export async function buildAll(releases: readonly Release[] = [RELEASES[0]]): Promise<Built> {
  await requireMachine();
  await installPackages();
  await mkdir(paths.build, { recursive: true });
  const all = await currentRecipes();
  const missing = missingFor(rootsOf(all, releases));
  if (missing.length > 0) await requireDisk(DISK_OF_BUILD, 'to build everything');
  if (missing.some(({ go }) => go)) await requireGo();
  await makeAll(missing);

  await link(paths.registry, folderOf(all.images));
  for (const [path, artifact] of Object.entries(all.repositories))
    await link(join(paths.www, path), folderOf(artifact));
  return { base: (release) => folderOf(all.bases[release]), tools: folderOf(all.tools) };
}

/** Removes artifacts that no recipe leads to any more. No host may lie over one. Returns their names. */
export async function prune(inUse: readonly string[]): Promise<readonly string[]> {
  const keep = new Set(
    [...inOrder(rootsOf(await currentRecipes(), RELEASES)).map(folderOf), ...inUse].map((folder) => basename(folder)),
  );
  const old = (await readdir(paths.build)).filter((name) => !name.endsWith('.log') && !keep.has(name));
  for (const name of old) await rm(join(paths.build, name), { recursive: true, force: true });
  return old;
}

const rootsOf = (
  { bases, tools, images, repositories }: Recipes,
  releases: readonly Release[],
): readonly Artifact[] => [...releases.map((release) => bases[release]), tools, images, ...Object.values(repositories)];

/** Asks the download site only where something of it is missing. */
async function currentRecipes(): Promise<Recipes> {
  const given = [await mirrors(), await ensureKeys()] as const;
  const offline = recipes(...given, { ...downloadSite(), answers: false });
  const undecided = missingFor(rootsOf(offline, [])).some(({ name }) => name.startsWith('kubernetes-1'));
  return undecided ? recipes(...given, { ...downloadSite(), answers: await siteAnswers() }) : offline;
}

/** What must be made for these: an artifact that is there needs nothing, whatever became of what it was made from. */
function missingFor(artifacts: readonly Artifact[]): readonly Artifact[] {
  const missing = (some: readonly Artifact[]): readonly Artifact[] =>
    some
      .filter((artifact) => !isMade(artifact))
      .flatMap((artifact) => [...missing(Object.values(artifact.needs ?? {})), artifact]);
  return inOrder(missing(artifacts)).filter((artifact) => !isMade(artifact));
}

/** Two at a time: the network and the linker leave one of two processors idle. */
async function makeAll(artifacts: readonly Artifact[]): Promise<void> {
  const done = new Map<string, Promise<unknown>>();
  const slots: [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()];
  const makeAfterNeeds = async (artifact: Artifact, turn: Promise<unknown>): Promise<void> => {
    await turn;
    await Promise.all(Object.values(artifact.needs ?? {}).flatMap((need) => done.get(need.name) ?? []));
    await make(artifact);
  };
  artifacts.forEach((artifact, n) => {
    const slot = (n % 2) as 0 | 1;
    slots[slot] = makeAfterNeeds(artifact, slots[slot]);
    slots[slot].catch(() => undefined); // awaited below
    done.set(artifact.name, slots[slot]);
  });
  await Promise.all(done.values());
}

/** Points a link at a folder, in one step: a server that serves through it never sees it missing. */
async function link(path: string, target: string): Promise<void> {
  if (existsSync(path) && readlinkSync(path) === target) return;
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  await rm(fresh, { force: true });
  await symlink(target, fresh);
  await rename(fresh, path);
}
