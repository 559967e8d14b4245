import { existsSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Artifact, folderOf, inOrder, isMade, make } from './artifact.ts';
import { type Site, sites, sitesThatAnswer } from './downloads.ts';
import { ensureKeys, type Keys, PUBLISHERS } from './keys.ts';
import { mirrors } from './mirrors.ts';
import { makeInTurn } from './make-in-turn.ts';
import { paths } from './paths.ts';
import { recipes, type Recipes } from './recipes.ts';
import {
  DISK_OF_BUILD,
  DISK_OF_DOWNLOADS,
  diskOfHosts,
  installPackages,
  requireAll,
  requireMachine,
} from './requirements.ts';
import { type System, SYSTEMS } from './systems.ts';
import { KUBERNETES, type KubernetesVersion } from './versions.ts';
import { arm64Artifacts } from './arm64-programs.ts';
import { dockerDaemonArtifacts } from './docker-daemon.ts';
import { suiteArtifacts } from './kubeadm-e2e.ts';
import { oracleArtifacts } from './kubeadm-oracle.ts';
import { windowsArtifacts } from './windows-programs.ts';

/** What hosts need to boot: folders of artifacts. */
export interface Built {
  /** The tree that hosts of that system lie over. */
  readonly base: (os: System) => string;
  readonly tools: string;
}

/** What a command of the lab needs. */
export interface Wanted {
  /** Systems that hosts are of. */
  readonly systems?: readonly System[];
  /** Kubernetes versions that must be there; the lab may have others beside them. */
  readonly versions?: readonly KubernetesVersion[];
  /** Hosts that are made afterwards. */
  readonly hosts?: number;
  /** Debian packages beside those of the lab. */
  readonly packages?: readonly string[];
}

/**
 * Makes sure that this machine has all that is needed to build what is missing and to run so many hosts. Throws Unmet with a
 * list of all that it lacks. Builds nothing; asks download sites only where something is missing.
 */
export async function requireLab({ hosts = 0, packages = [], ...wanted }: Wanted = {}): Promise<void> {
  // On a machine that is no Debian, or for another user, even that cannot be told: then all of it is needed.
  const missing = await plannedWork(wanted).then(
    (work) => work.missing,
    () => undefined,
  );
  const go = missing?.some((artifact) => artifact.go) ?? true;
  const building = missing?.length === 0 ? 0 : go ? DISK_OF_BUILD : DISK_OF_DOWNLOADS;
  await requireAll({ diskGib: building + diskOfHosts(hosts), go, packages });
}

/**
 * Makes everything slow that is missing, and lets the services serve it. Where only some Kubernetes versions are wanted, and
 * not all are there, only those are made. Returns within a second when nothing is missing.
 */
export async function buildAll({ systems = [SYSTEMS[0]], versions }: Wanted = {}): Promise<Built> {
  await requireMachine();
  await installPackages();
  await mkdir(paths.build, { recursive: true });
  await ensureKeys();
  const { all, missing } = await plannedWork({ systems, ...(versions === undefined ? {} : { versions }) });
  const go = missing.some((artifact) => artifact.go);
  if (missing.length > 0) await requireAll({ diskGib: go ? DISK_OF_BUILD : DISK_OF_DOWNLOADS, go });
  await makeInTurn(missing, make);

  await link(paths.registry, folderOf(all.images));
  const own = systems.flatMap((os) => {
    const { repository } = all.systems[os];
    return repository === undefined ? [] : [[os, repository] as const];
  });
  for (const [path, artifact] of [...Object.entries(all.repositories), ...own])
    await link(join(paths.www, path), folderOf(artifact));
  return { base: (os) => folderOf(all.systems[os].base), tools: folderOf(all.tools) };
}

/** Makes a repository that few hosts want, and lets the services serve it. `path`: one of `Recipes.onDemand`. */
export async function buildOnDemand(path: string): Promise<void> {
  await installPackages();
  await mkdir(paths.build, { recursive: true });
  const { onDemand } = recipes(await mirrors(), await ensureKeys(), { from: sites(), answering: new Set() });
  const artifact = onDemand[path]!;
  const missing = missingFor([artifact]);
  if (missing.length > 0) await requireAll({ diskGib: DISK_OF_BUILD, go: true });
  await makeInTurn(missing, make);
  await link(join(paths.www, path), folderOf(artifact));
}

/** The versions that are served now; all where none is. */
export function servedVersions(): readonly KubernetesVersion[] {
  const served = KUBERNETES.filter(({ minor }) => existsSync(join(paths.www, 'kubernetes', `v${minor}`, 'deb')));
  return served.length === 0 ? KUBERNETES : served;
}

/** What there is to make, and what it is for. */
interface Work {
  readonly all: Recipes;
  readonly missing: readonly Artifact[];
}

/** Nothing of it is there where the keys are not, which sign much of it: then any keys will do. */
const NO_KEYS = Object.fromEntries(['identity', ...PUBLISHERS].map((name) => [name, ''])) as Keys;

async function plannedWork({ systems = [SYSTEMS[0]], versions = KUBERNETES }: Wanted): Promise<Work> {
  const given = [await mirrors(), existsSync(paths.gnupg) ? await ensureKeys() : NO_KEYS] as const;
  const from = sites();
  const work = (some: readonly KubernetesVersion[], answering: ReadonlySet<Site>): Work => {
    const all = recipes(...given, { from, answering }, some);
    return { all, missing: missingFor(rootsOf(all, systems)) };
  };
  const everything = work(KUBERNETES, new Set());
  if (everything.missing.length === 0) return everything;
  const offline = work(versions, new Set());
  const undecided = new Set(offline.missing.flatMap(({ publishedAt }) => publishedAt ?? []));
  return undecided.size === 0 ? offline : work(versions, await sitesThatAnswer([...undecided], versions));
}

/** Removes artifacts that no recipe leads to any more, and that nothing is served from. No host may lie over one. Returns their names. */
export async function prune(inUse: readonly string[]): Promise<readonly string[]> {
  const all = recipes(await mirrors(), await ensureKeys(), { from: sites(), answering: new Set() });
  const repositories = [...Object.keys(all.repositories), ...Object.keys(all.onDemand)];
  const served = [paths.registry, ...repositories.map((path) => join(paths.www, path))];
  const linked = served.flatMap((path) => (existsSync(path) ? [readlinkSync(path)] : []));
  const keep = new Set(
    [
      ...inOrder([
        ...rootsOf(all, SYSTEMS),
        ...Object.values(all.onDemand),
        ...dockerDaemonArtifacts(),
        ...windowsArtifacts(),
        ...arm64Artifacts(),
        ...oracleArtifacts(),
        ...suiteArtifacts(),
      ]).map(folderOf),
      ...linked,
      ...inUse,
    ].map((folder) => basename(folder)),
  );
  const old = (await readdir(paths.build)).filter((name) => !name.endsWith('.log') && !keep.has(name));
  for (const name of old) await rm(join(paths.build, name), { recursive: true, force: true });
  return old;
}

const rootsOf = (all: Recipes, systems: readonly System[]): readonly Artifact[] => [
  ...systems.flatMap((os) => {
    const { base, repository } = all.systems[os];
    return repository === undefined ? [base] : [base, repository];
  }),
  ...[all.tools, all.images],
  ...Object.values(all.repositories),
];

/** What must be made for these: an artifact that is there needs nothing, whatever became of what it was made from. */
function missingFor(artifacts: readonly Artifact[]): readonly Artifact[] {
  const missing = (some: readonly Artifact[]): readonly Artifact[] =>
    some
      .filter((artifact) => !isMade(artifact))
      .flatMap((artifact) => [...missing(Object.values(artifact.needs ?? {})), artifact]);
  return inOrder(missing(artifacts)).filter((artifact) => !isMade(artifact));
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
