/** `npm run tables:removed`: writes templates/tables/removed.json from the Go modules of Kubernetes and etcd. Needs Go. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { flagSources, folderOf, gateSources, readerOf, type Release, RELEASES } from './component-sources.ts';
import { declaredApis, declaredFlags, declaredGates, type Gate } from './go-source.ts';

const TARGET = fileURLToPath(new URL('../../templates/tables/removed.json', import.meta.url));

/** Kinds that the module declares, but that the older API server did not serve: it has no storage for them. */
const NEVER_SERVED: ReadonlySet<string> = new Set(['v1 PodStatusResult', 'scheduling.k8s.io/v1alpha1 PriorityClass']);

interface Declared {
  readonly flags: Readonly<Record<string, ReadonlySet<string>>>;
  readonly gates: Readonly<Record<string, ReadonlyMap<string, Gate>>>;
  readonly apis: ReturnType<typeof declaredApis>;
}

function declaredIn(release: Release): Declared {
  const read = readerOf(release);
  return {
    flags: Object.fromEntries(Object.entries(flagSources).map(([name, source]) => [name, declaredFlags(source(read))])),
    gates: Object.fromEntries(
      Object.entries(gateSources).map(([name, source]) => [name, declaredGates(source(read), release.minor)]),
    ),
    apis: declaredApis(folderOf(release, 'api'), release.minor),
  };
}

const without = (before: Iterable<string>, after: { has: (name: string) => boolean }): readonly string[] =>
  [...before].filter((name) => !after.has(name)).toSorted();

/** Gates that the older version let the user set, as `NAME=VALUE` with the only value that the newer one accepts. */
const newlyLocked = (before: ReadonlyMap<string, Gate>, after: ReadonlyMap<string, Gate>): readonly string[] =>
  [...after.values()]
    .filter(({ name, locked }) => locked !== undefined && before.has(name) && before.get(name)?.locked !== locked)
    .map(({ name, locked }) => `${name}=${String(locked)}`)
    .toSorted();

const named = (lists: Readonly<Record<string, readonly string[]>>): object =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));

/** As `RemovedData` of src/upgrade/removed.value.ts has it. */
function entry(before: Release, after: Release, [old, now]: readonly [Declared, Declared]): object {
  const each = <T>(all: Readonly<Record<string, T>>, what: (name: string) => readonly string[]) =>
    named(Object.fromEntries(Object.keys(all).map((name) => [name, what(name)])));
  const kinds = without(old.apis.kinds, now.apis.kinds).filter((kind) => !NEVER_SERVED.has(kind));
  return {
    minor: after.minor,
    compared: { kubernetes: [before.kubernetes, after.kubernetes], etcd: [before.etcd, after.etcd] },
    flags: each(now.flags, (name) => without(old.flags[name]!, now.flags[name]!)),
    gates: each(now.gates, (name) => without(old.gates[name]!.keys(), now.gates[name]!)),
    locked: each(now.gates, (name) => newlyLocked(old.gates[name]!, now.gates[name]!)),
    apis: kinds.map((kind) => kind.replace(' ', '/')),
    groupVersions: without(old.apis.groupVersions, now.apis.groupVersions),
  };
}

const declared = RELEASES.map(declaredIn);
const entries = RELEASES.slice(1).map((release, i) => entry(RELEASES[i]!, release, [declared[i]!, declared[i + 1]!]));
writeFileSync(TARGET, `${JSON.stringify(entries, undefined, 1)}\n`);
