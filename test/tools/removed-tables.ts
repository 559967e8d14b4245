/** `npm run tables:removed`: writes src/upgrade/removed-data.value.ts from the Go modules of Kubernetes and etcd. Needs Go. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { flagSources, folderOf, gateSources, readerOf, type Release, RELEASES } from './component-sources.ts';
import { declaredApis, declaredFlags, declaredGates, type Gate } from './go-source.ts';

const TARGET = fileURLToPath(new URL('../../src/upgrade/removed-data.value.ts', import.meta.url));

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

/** A template literal of words, as wide as the project's lines. */
function words(list: readonly string[]): string {
  const lines = list.reduce<readonly string[]>((done, word) => {
    const last = done.at(-1);
    return last === undefined || `${last} ${word}`.length > 112
      ? [...done, word]
      : [...done.slice(0, -1), `${last} ${word}`];
  }, []);
  return lines.length < 2 ? `'${lines.join('')}'` : `\`\n${lines.map((line) => `      ${line}`).join('\n')}\``;
}

const record = (lists: Readonly<Record<string, readonly string[]>>): string =>
  `{ ${Object.entries(lists)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `'${name}': ${words(list)}`)
    .join(', ')} }`;

function entry(before: Release, after: Release, [old, now]: readonly [Declared, Declared]): string {
  const each = <T>(all: Readonly<Record<string, T>>, what: (name: string) => readonly string[]) =>
    Object.fromEntries(Object.keys(all).map((name) => [name, what(name)]));
  const kinds = without(old.apis.kinds, now.apis.kinds).filter((kind) => !NEVER_SERVED.has(kind));
  return `'${after.minor}': {
    compared: { kubernetes: ['${before.kubernetes}', '${after.kubernetes}'], etcd: ['${before.etcd}', '${after.etcd}'] },
    flags: ${record(each(now.flags, (name) => without(old.flags[name]!, now.flags[name]!)))},
    gates: ${record(each(now.gates, (name) => without(old.gates[name]!.keys(), now.gates[name]!)))},
    locked: ${record(each(now.gates, (name) => newlyLocked(old.gates[name]!, now.gates[name]!)))},
    apis: ${words(kinds.map((kind) => kind.replace(' ', '/')))},
    groupVersions: ${words(without(old.apis.groupVersions, now.apis.groupVersions))},
  }`;
}

const HEAD = `// Generated from the Go modules of Kubernetes and etcd by "npm run tables:removed"; do not edit.

/** What one minor of Kubernetes no longer knows, in words that spaces separate. */
export interface RemovedData {
  /** The versions whose sources were compared, the older one first. */
  readonly compared: { readonly kubernetes: readonly [string, string]; readonly etcd: readonly [string, string] };
  /** By component, names without dashes. */
  readonly flags: Readonly<Record<string, string>>;
  /** By the set of gates: \`kubernetes\` (all of its components), \`etcd\`, \`kubeadm\`. */
  readonly gates: Readonly<Record<string, string>>;
  /** \`NAME=VALUE\`: the only value that is accepted from this minor on. */
  readonly locked: Readonly<Record<string, string>>;
  /** \`group/version/Kind\` */
  readonly apis: string;
  /** \`group/version\` of which nothing is left. */
  readonly groupVersions: string;
}

/** By minor. */
export const removedData: Readonly<Record<string, RemovedData>> = {`;

const declared = RELEASES.map(declaredIn);
const entries = RELEASES.slice(1).map((release, i) => entry(RELEASES[i]!, release, [declared[i]!, declared[i + 1]!]));
const text = `${HEAD}\n${entries.map((one) => `  ${one},`).join('\n')}\n};\n`;
writeFileSync(TARGET, await format(text, { ...(await resolveConfig(TARGET)), parser: 'typescript' }));
