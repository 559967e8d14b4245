import { randomBytes } from 'node:crypto';
import { factsFrom, MOST_OF_CLUSTER, parallelFramedScript, readFrames } from '../cluster/fleet/framed-script.ts';
import { adminKubectl } from '../cluster/fleet/probes.ts';
import { FactError } from '../errors.ts';
import { apiServerUrl } from '../inventory/api-server.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { probe, type Probe } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import type { Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { type Addons, type Kured, type NodesSeen, parseAddons, parseKured, parseNodesSeen } from './addons.facts.ts';
import {
  type Budget,
  type DeprecatedApi,
  type Evictions,
  type FailingWebhook,
  type ManifestFlag,
  parseBudgets,
  parseDeprecatedApis,
  parseEvictions,
  parseFlags,
  parseObjects,
  parseTwice,
  parseWebhooks,
  type StoredObjects,
  type TwiceBudgeted,
} from './view-parts.facts.ts';

/** A part of the view, or why it could not be observed. */
export type Part<T> = { readonly value: T } | { readonly unknown: string };

/** What an upgrade meets in the cluster, observed before anything changes. */
export interface UpgradeView {
  readonly evictions: Part<Evictions>;
  readonly budgets: Part<readonly Budget[]>;
  readonly twiceBudgeted: Part<readonly TwiceBudgeted[]>;
  /** Only those with failurePolicy Fail. */
  readonly webhooks: Part<readonly FailingWebhook[]>;
  /** By the host of the API server: each knows only the requests that it served itself since it started. */
  readonly deprecatedApis: ReadonlyMap<string, Part<readonly DeprecatedApi[]>>;
  /** Of the API versions that the newer Kubernetes cannot read. */
  readonly unreadableObjects: Part<readonly StoredObjects[]>;
  readonly addons: Part<Addons>;
  /** Of the control planes' static pods. */
  readonly manifestFlags: Part<readonly ManifestFlag[]>;
  readonly nodes: Part<NodesSeen>;
  readonly kured: Part<Kured>;
}

/** What an observation of an upgrade may use instead of the usual. */
interface UpgradeTools {
  /** The control planes whose API servers are observed: those that have joined. Default: all of the inventory. */
  readonly apiServers?: readonly LinuxHost[];
  /** API versions that the newer Kubernetes cannot read, e.g. `Workload.v1alpha2.scheduling.k8s.io`. Default: none. */
  readonly unreadable?: readonly string[];
  /** A fresh unguessable word: output cannot fake a frame. */
  readonly nonce?: () => string;
}

/** Seconds that a part may take: the lists of a cluster of thousands of pods come in chunks. */
const PART_SECONDS = 60;

/** Seconds that each request may take; a list is one request for each 500 objects. */
const REQUEST_SECONDS = 20;

type PartName = 'pods' | 'budgets' | 'twice' | 'webhooks' | 'apis' | 'objects' | 'addons' | 'flags' | 'nodes' | 'kured';

const part = (
  inventory: Inventory,
  server: LinuxHost,
  name: PartName,
  unreadable: readonly string[] = [],
): Command<'sh'> =>
  script('upgrade/upgrade-view.sh', {
    KUBECTL: adminKubectl(apiServerUrl(inventory, server), REQUEST_SECONDS),
    PART: name,
    REMOVED: unreadable,
  });

/** The probes that read from the API server of one host. */
const clusterParts = (inventory: Inventory, control: LinuxHost, unreadable: readonly string[]) => ({
  evictions: probe(part(inventory, control, 'pods'), parseEvictions),
  budgets: probe(part(inventory, control, 'budgets'), parseBudgets),
  twiceBudgeted: probe(part(inventory, control, 'twice'), parseTwice),
  webhooks: probe(part(inventory, control, 'webhooks'), parseWebhooks),
  unreadableObjects: probe(part(inventory, control, 'objects', unreadable), parseObjects),
  addons: probe(part(inventory, control, 'addons'), parseAddons),
  manifestFlags: probe(part(inventory, control, 'flags'), parseFlags),
  nodes: probe(part(inventory, control, 'nodes'), parseNodesSeen),
  kured: probe(part(inventory, control, 'kured'), parseKured),
});

/** Reads a fact. Only a fact that could not be observed becomes `unknown`. */
function partOf<T>(read: () => T): Part<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof FactError) return { unknown: error.message };
    throw error;
  }
}

/** The name of the probe of one API server's deprecated APIs. */
const apisOf = ({ name }: LinuxHost): string => `apis-${name}`;

const BETWEEN = 'stderr';

/**
 * One script whose stderr follows its stdout: `Remote.run` returns stdout alone, and a failed part tells its reason on
 * stderr.
 */
function withStderr(command: Command<'sh'>, nonce: string): Command<'sh'> {
  const before = sh`e=$(mktemp -p /run kbuild-upgrade.XXXXXX); trap 'rm -f "$e"' EXIT; trap 'exit 1' HUP INT TERM`
    .script;
  const after = sh`printf '\n%s\n' ${`${nonce}:${BETWEEN}`}; cat "$e"`.script;
  return {
    ...command,
    script: `${before}\n(\n${command.script}\n) 2>"$e"\n${after}`,
    title: 'observe what an upgrade meets in the cluster',
  };
}

/**
 * Observes by one script on a control plane what an upgrade meets in the cluster: workloads, budgets, webhooks,
 * deprecated APIs, objects that would become unreadable, addons, cordons. Creates nothing. A part that does not answer
 * is `unknown`. Rejects if the script cannot run (CommandError, ConnectError).
 */
export async function observeUpgrade(
  remote: Pick<Remote<'sh'>, 'run'>,
  inventory: Inventory,
  control: LinuxHost,
  {
    apiServers = controlPlanes(inventory),
    unreadable = [],
    nonce = () => randomBytes(12).toString('hex'),
  }: UpgradeTools = {},
): Promise<UpgradeView> {
  const parts = clusterParts(inventory, control, unreadable);
  const apis: Readonly<Record<string, Probe<readonly DeprecatedApi[]>>> = Object.fromEntries(
    apiServers.map((host) => [apisOf(host), probe(part(inventory, host, 'apis'), parseDeprecatedApis)]),
  );
  const all: Readonly<Record<string, Probe<unknown>>> = { ...parts, ...apis };
  const commands = Object.fromEntries(Object.entries(all).map(([name, { command }]) => [name, command]));
  const word = nonce();
  const out = await remote.run(withStderr(parallelFramedScript(commands, word, PART_SECONDS), word));
  const [stdout = '', stderr = ''] = out.split(`\n${word}:${BETWEEN}\n`);
  const answers = readFrames(stdout, stderr, word, PART_SECONDS);
  const asked = { middleMs: 0 };
  const facts = factsFrom(control.name, parts, answers, asked, MOST_OF_CLUSTER);
  return {
    evictions: partOf(() => facts.evictions),
    budgets: partOf(() => facts.budgets),
    twiceBudgeted: partOf(() => facts.twiceBudgeted),
    webhooks: partOf(() => facts.webhooks),
    deprecatedApis: new Map(
      apiServers.map((host) => {
        const answer = answers[apisOf(host)];
        const probes = { deprecatedApis: apis[apisOf(host)]! };
        const its = factsFrom(
          host.name,
          probes,
          answer === undefined ? {} : { deprecatedApis: answer },
          asked,
          MOST_OF_CLUSTER,
        );
        return [host.name, partOf(() => its.deprecatedApis)];
      }),
    ),
    unreadableObjects: partOf(() => facts.unreadableObjects),
    addons: partOf(() => facts.addons),
    manifestFlags: partOf(() => facts.manifestFlags),
    nodes: partOf(() => facts.nodes),
    kured: partOf(() => facts.kured),
  };
}
