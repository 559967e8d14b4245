import { signsAnyByCommand } from '../certificates/authorities.value.ts';
import { renewerOf } from '../certificates/expiry.ts';
import { lowestApiServer } from '../cluster/api-versions.ts';
import { type Fleet, type Kinds, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { acting, liveCluster } from '../cluster/live.ts';
import type { Finding } from '../engine/check.ts';
import { changesIn, type PlannedChange } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import { FactError, throwAll } from '../errors.ts';
import { downloadFindings } from '../host/packages/downloads.check.ts';
import { downloads, type Wanted } from '../host/packages/downloads.survey.ts';
import { getsBinaries } from '../host/packages/installer.value.ts';
import { controlPlanes, linuxHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { networkSteps } from '../network/plugins.step.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { planText } from '../report/plan.ts';
import { hostList } from '../report/text.ts';
import { breaking, note, unknown, upgradeViewText, warning } from '../report/upgrade.ts';
import { wantedDownloads } from '../session/downloads.ts';
import type { Run, RunPlan } from '../session/run.ts';
import { atVersion } from '../upgrade/at-version.value.ts';
import { handWritten } from '../upgrade/hand-written-flags.ts';
import type { Hop } from '../upgrade/hop.ts';
import { unreadableApis, unreadableRefusals } from '../upgrade/upgrade.refusal.ts';
import { neverAllows } from '../upgrade/view-parts.facts.ts';
import { observeUpgrade, type Part, type UpgradeView } from '../upgrade/view.ts';

type Seen = Kinds['linux'];

/** Hosts of one kind download the same. */
function kindOf(seen: Seen): string {
  const { host, facts } = seen;
  const registries = host.runtime?.registries.map((one) => [one.host, one.mirrors]);
  const { prettyName } = facts.osRelease;
  return JSON.stringify([host.role, prettyName, facts.arch, getsBinaries(seen), host.runtime?.name, registries]);
}

/** What the hops download to one host, once. */
function ofHops(inventory: Inventory, hops: readonly Hop[], { host, facts }: Seen): readonly Wanted[] {
  const all = hops.flatMap(({ version }) => {
    const moved = atVersion(inventory, version);
    const there = linuxHosts(moved).find(({ name }) => name === host.name);
    return there === undefined ? [] : wantedDownloads(moved, { host: there, facts });
  });
  const key = ({ kind, urls, word }: Wanted): string => JSON.stringify([kind, urls, word]);
  return [...new Map(all.map((one) => [key(one), one])).values()];
}

/** What an upgrade downloads, as one host of each kind needs it. `names`: the hosts that it downloads to. */
export function upgradeDownloads(
  inventory: Inventory,
  fleet: Fleet,
  hops: readonly Hop[],
  names: ReadonlySet<string>,
): readonly (Seen & { readonly wanted: readonly Wanted[] })[] {
  const kinds = new Map<string, Seen>();
  for (const seen of observedLinux(fleet).filter(({ host }) => names.has(host.name))) {
    const kind = kindOf(seen);
    if (!kinds.has(kind)) kinds.set(kind, seen);
  }
  return [...kinds.values()].map((seen) => ({ ...seen, wanted: ofHops(inventory, hops, seen) }));
}

/** A finding about a download as a plan prints it. */
function line({ severity, host = '', message, remedy }: Finding): string {
  const text = `${host}: ${message}`;
  if (severity === 'error') return breaking(text, remedy ?? '');
  return severity === 'unknown' || remedy === undefined ? unknown(text) : warning([message], text, remedy).join('');
}

/** What hosts cannot download of the hops, as text of a plan; empty where all is there. Installs and pulls nothing. */
export async function missingDownloads(
  { connected, inventory }: Pick<Run, 'connected' | 'inventory'>,
  hops: readonly Hop[],
  names: ReadonlySet<string>,
): Promise<{ readonly text: string; readonly found: readonly string[] }> {
  const fleet = connected.observations.fleet();
  const got = await downloads(connected.on, upgradeDownloads(inventory, fleet, hops, names), inventory.proxy);
  const findings = downloadFindings(got);
  return {
    text: findings.length === 0 ? '' : `Downloads, by one host of each kind\n${findings.map(line).join('')}`,
    found: findings.map(({ host = '', message }) => `${host}: ${message}`),
  };
}

/** The step in which kubeadm writes the manifests of a control plane again, and renews its certificates. */
const UPGRADED = 'control-plane-upgraded';

/**
 * The lines that a function makes of facts; where one could not be observed, a line that says so: a note stops no
 * upgrade.
 */
function orUnknown(what: string, lines: () => readonly string[]): readonly string[] {
  try {
    return lines();
  } catch (error) {
    if (!(error instanceof FactError)) throw error;
    return [`${what} is unknown (${error.message})`];
  }
}

/** Certificates that kubeadm renews on the control planes which it upgrades. */
function renewed(inventory: Inventory, fleet: Fleet, changes: readonly PlannedChange[]): readonly string[] {
  const upgraded = new Set(changes.flatMap(({ step, host }) => (step === UPGRADED ? [host] : [])));
  const hosts = controlPlanes(inventory).filter(({ name }) => upgraded.has(name));
  if (hosts.length === 0) return [];
  const names = hostList(hosts.map(({ name }) => name));
  if (signsAnyByCommand(inventory))
    return [`kubeadm renews no certificates on ${names}: the key of an authority is not in the cluster`];
  const way = `kubeadm renews the certificates of ${names} on the way`;
  return orUnknown(`${way}; when they would expire`, () => {
    const [first] = hosts
      .flatMap((host) => linuxFacts(fleet, host)?.certificates ?? [])
      .filter(({ name }) => renewerOf(inventory, name) === 'kbuild')
      .map(({ expires }) => expires.slice(0, 10))
      .toSorted();
    return first === undefined ? [] : [`${way}; the first of them would expire on ${first}`];
  });
}

/** What an operator wrote into manifests of control planes, and where it has to stand instead. */
function takenAway(inventory: Inventory, { cluster }: Fleet, flags: UpgradeView['manifestFlags']): readonly string[] {
  if ('unknown' in flags)
    return [`which flags kubeadm takes away from manifests of control planes is unknown (${flags.unknown})`];
  if (cluster.state !== 'up') return [];
  return handWritten(inventory, cluster.configuration, flags.value).map(
    ({ component, flag, nodes }) =>
      `kubeadm takes --${flag} of ${component} away, which was written by hand into its manifest on ` +
      `${hostList(nodes)}; to keep it, name it in \`kubeadm.cluster\` of the inventory and run \`kbuild up\` ` +
      'first',
  );
}

/** What `up` would change of the network plugin: an upgrade does not touch it. */
const networkStays = (inventory: Inventory, fleet: Fleet): readonly string[] =>
  orUnknown('the network plugin stays as it is; what `kbuild up` would change of it', () =>
    networkSteps(inventory)
      .flatMap((step) => step.diff({ inventory, fleet, host: acting(fleet), facts: fleet.cluster }))
      .map(({ summary }) => `the network plugin stays as it is; afterwards \`kbuild up\` would ${summary}`),
  );

/**
 * What else an upgrade does or leaves, one line each: certificates that are renewed, and a network plugin that should
 * follow.
 */
export const upgradeNotes = (
  inventory: Inventory,
  fleet: Fleet,
  changes: readonly PlannedChange[],
  { manifestFlags }: Pick<UpgradeView, 'manifestFlags'>,
): readonly string[] => [
  ...renewed(inventory, fleet, changes),
  ...(changes.some(({ step }) => step === UPGRADED) ? takenAway(inventory, fleet, manifestFlags) : []),
  ...networkStays(inventory, fleet),
];

/** The notes as a plan prints them; empty without any. */
export const upgradeNotesText = (notes: readonly string[]): string =>
  notes.length === 0 ? '' : `Besides\n${notes.map(note).join('')}`;

/** Blocks of a plan with an empty line between them. */
const joined = (blocks: readonly string[]): string => blocks.filter((block) => block !== '').join('\n');

/** `1.34.4 → 1.35.8 → 1.36.3` */
export function hopsText(hops: readonly Hop[]): string {
  const versions = [hops[0]?.from, ...hops.map(({ version }) => version)];
  return `Kubernetes ${versions.filter((one, at, all) => one !== all[at - 1]).join(' → ')}\n`;
}

/**
 * The view as the value of a JSON document: every name, and `{"unknown": REASON}` for a part that could not be
 * observed.
 */
export function upgradeViewJson(view: UpgradeView): DocumentOf<'upgrade-plan'>['meets'] {
  const of = <T>(part: Part<T>): T | { readonly unknown: string } => ('value' in part ? part.value : part);
  const as = <T, Shown>(part: Part<T>, json: (value: T) => Shown): Shown | { readonly unknown: string } =>
    'value' in part ? json(part.value) : part;
  return {
    evictions: as(view.evictions, ({ perNode, pods }) => ({ perNode: Object.fromEntries(perNode), pods })),
    podDisruptionBudgets: as(view.budgets, (budgets) =>
      budgets.map((budget) => ({ ...budget, neverAllows: neverAllows(budget) })),
    ),
    podsWithSeveralBudgets: of(view.twiceBudgeted),
    webhooks: of(view.webhooks),
    deprecatedApis: Object.fromEntries([...view.deprecatedApis].map(([host, part]) => [host, of(part)])),
    unreadableObjects: of(view.unreadableObjects),
    addons: of(view.addons),
    nodes: of(view.nodes),
    kured: of(view.kured),
  };
}

/**
 * What the upgrade meets in the cluster, as text and as JSON. Reads only. `use`: where it is only shown, a part that
 * cannot be read is shown as unknown.
 * @throws Refused for objects that no newer API server can read; FactError when it is unknown whether there are any
 */
export async function viewOf(
  run: Run,
  { changes }: RunPlan,
  use: 'only shown' | 'before an upgrade',
): Promise<{
  readonly text: string;
  readonly json: ReturnType<typeof upgradeViewJson>;
  readonly notes: readonly string[];
}> {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  const control = acting(fleet);
  const cluster = liveCluster(fleet);
  const apiServers = controlPlanes(inventory).filter(({ name }) => cluster.apiServers.has(name));
  const nodes = changes.flatMap(({ step, host }) => (step === 'drained' ? [host] : []));
  const unreadable = unreadableApis(lowestApiServer(cluster), inventory.kubernetes.version);
  const view = await observeUpgrade(connected.on(control), inventory, control, { apiServers, unreadable });
  const objects = view.unreadableObjects;
  if ('unknown' in objects && use === 'before an upgrade')
    throw new FactError(control.name, 'whether there are objects that a newer API server cannot read', objects.unknown);
  if (!('unknown' in objects)) throwAll(unreadableRefusals(inventory, objects.value));
  const notes = upgradeNotes(inventory, fleet, changes, view);
  const text = upgradeViewText(view, { target: inventory.kubernetes.version, nodes: [...new Set(nodes)] });
  return { text: joined([text, upgradeNotesText(notes)]), json: upgradeViewJson(view), notes };
}

/** Shows the plan alone, and what could not be downloaded. */
export async function showOnly(run: Run, hops: readonly Hop[], plan: RunPlan): Promise<number> {
  const { context, flags, inventory } = run;
  const { phases, changes } = plan;
  const { text, json, notes } = await viewOf(run, plan, 'only shown');
  const fetching = changes.flatMap(({ phase, host }) => (phase === 'fetch' ? [host] : []));
  const missing = await missingDownloads(run, hops, new Set(fetching));
  const restarts = restartsOf(inventory, changes);
  if (flags.json === true) {
    const shown = changesIn(changes).map(({ phase, host, step, summary }) => ({ phase, host, step, summary }));
    const all = { hops, changes: shown, restarts, meets: json, notes, missingDownloads: missing.found };
    context.out(jsonDocument<'upgrade-plan'>({ cluster: inventory.name, ...all }));
    return 0;
  }
  context.out(
    changes.length === 0
      ? 'nothing to do\n'
      : `${hopsText(hops)}${planText(phases, changes, restarts)}${joined([text, missing.text])}`,
  );
  return 0;
}
