import { acting } from '../cluster/acting.ts';
import { renewerOf } from '../cluster/expiry.ts';
import { signsAnyByCommand } from '../topology/own-authorities.ts';
import type { PlannedChange } from '../engine/plan.ts';
import { FactError } from '../errors.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { UpgradeView } from '../facts/upgrade-view.ts';
import type { Inventory } from '../model/inventory.ts';
import { networkSteps } from '../network/index.ts';
import { controlPlanes } from '../topology/select.ts';
import { handWritten } from '../upgrade/hand-written.ts';
import { hostList } from './host-list.ts';
import { note } from './upgrade-lines.ts';

/** The step in which kubeadm writes the manifests of a control plane again, and renews its certificates. */
const UPGRADED = 'control-plane-upgraded';

/** The lines that a function makes of facts; where one could not be observed, a line that says so: a note stops no upgrade. */
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
      `kubeadm takes --${flag} of ${component} away, which was written by hand into its manifest on ${hostList(nodes)}; to keep it, name it in \`kubeadm.cluster\` of the inventory and run \`kbuild up\` first`,
  );
}

/** What `up` would change of the network plugin: an upgrade does not touch it. */
const networkStays = (inventory: Inventory, fleet: Fleet): readonly string[] =>
  orUnknown('the network plugin stays as it is; what `kbuild up` would change of it', () =>
    networkSteps(inventory)
      .flatMap((step) => step.diff({ inventory, fleet, host: acting(fleet), facts: fleet.cluster }))
      .map(({ summary }) => `the network plugin stays as it is; afterwards \`kbuild up\` would ${summary}`),
  );

/** What else an upgrade does or leaves, one line each: certificates that are renewed, and a network plugin that should follow. */
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
