/** Hosts of a cluster whose CA is rotated, as far as a rotation can tell them apart, and what each change does to them. */
import { stringify } from 'yaml';
import type { AuthorityCertificate } from '../../src/certificates/certificates.facts.ts';
import { CLUSTER_INFO } from '../../src/certificates/cluster-info.step.ts';
import { type Rotating, SIGNING } from '../../src/certificates/rotation.step.ts';
import { endOf, rotationOf } from '../../src/certificates/rotation.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { rotateAuthorityPhases, ROTATION_PARTS } from '../../src/commands/certs.phases.ts';
import type { Step, Target } from '../../src/engine/step.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { authoritiesWith, madeAuthority } from '../fakes/authorities.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { clusterOf, cp1, cp2, cp3, fleetIn, inventoryOf, joinedHost, nodesOf, w1 } from '../fakes/cluster.ts';

export const OLD = madeAuthority('kubernetes');
export const NEW = madeAuthority('kubernetes-20261124t220000z');
export const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });

type Ca = 'old' | 'new';
const CERTIFICATES: Readonly<Record<Ca, AuthorityCertificate>> = { old: OLD, new: NEW };
const caOf = ({ fingerprint }: AuthorityCertificate): Ca => (fingerprint === OLD.fingerprint ? 'old' : 'new');

export interface HostState {
  bundle: readonly Ca[];
  key: Ca;
  /** The files that a rotation keeps. */
  kept: { old?: Ca; fresh?: Ca; signing?: Ca };
  signsApart: boolean;
  leaves: Ca;
  kubelet: Ca;
  /** What admin.conf knows, if something else than the bundle: kubeadm's join writes the first of it. */
  admin?: readonly Ca[];
}

export interface World {
  readonly hosts: Map<string, HostState>;
  announced: readonly Ca[];
  pods: readonly Ca[];
  hasOldReaders: boolean;
}

export const fresh = (): World => ({
  hosts: new Map(
    inventory.hosts.map(({ name }) => [
      name,
      { bundle: ['old'], key: 'old', kept: {}, signsApart: false, leaves: 'old', kubelet: 'old' },
    ]),
  ),
  announced: ['old'],
  pods: ['old'],
  hasOldReaders: true,
});

/** A control plane joins through cp1, when its kubelet's request meets this controller manager. */
export function join(world: World, signer: string): void {
  const { bundle, key, kept, signsApart } = world.hosts.get('cp1')!;
  const other = world.hosts.get(signer)!;
  const kubelet = other.signsApart ? other.kept.signing! : other.key;
  world.hosts.set('cp3', { bundle, key, kept, signsApart, leaves: bundle[0]!, kubelet, admin: [bundle[0]!] });
}

/** The inventory of these hosts. */
const named = (world: World): Inventory =>
  world.hosts.has('cp3') ? inventoryOf({ hosts: [cp1, cp2, cp3, w1] }) : inventory;

export const copyOf = (world: World): World => structuredClone(world);

const certificates = (all: readonly Ca[]): readonly AuthorityCertificate[] => all.map((one) => CERTIFICATES[one]);
const pem = (all: readonly Ca[]): string =>
  certificates(all)
    .map((one) => one.pem)
    .join('');

function seen(host: LinuxHost, state: HostState) {
  const isControl = host.role === 'control-plane';
  const { old, fresh: made, signing } = state.kept;
  const some = <V>(found: Readonly<Record<string, V | undefined>>) =>
    Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Readonly<Record<string, V>>;
  const of = (ca: Ca | undefined) => (ca === undefined ? undefined : CERTIFICATES[ca]);
  const issued = (name: string, ca: Ca) =>
    certificateOf(name, '2027-11-24T00:00:00Z', { issuer: CERTIFICATES[ca].subject });
  return joinedHost(host, {
    caFingerprint: CERTIFICATES[state.bundle[0]!].fingerprint,
    otherCas: certificates(state.bundle.slice(1)).map(({ fingerprint }) => fingerprint),
    nowMs: Date.parse('2026-11-24T22:00:00Z'),
    certificates: [
      ...(isControl
        ? ['apiserver', 'admin.conf', 'controller-manager.conf', 'scheduler.conf'].map((name) =>
            issued(name, state.leaves),
          )
        : []),
      issued('kubelet-client', state.kubelet),
    ],
    authorities: authoritiesWith(
      {
        ca: {
          bundle: certificates(state.bundle),
          beside: some({ old: of(old), fresh: of(made), signing: of(signing) }),
          keys: isControl ? some({ current: state.key, old, fresh: made, signing }) : {},
        },
      },
      {
        kubeconfigs: new Map([
          ['kubelet.conf', certificates(state.bundle)],
          ...(isControl ? [['admin.conf', certificates(state.admin ?? state.bundle)] as const] : []),
        ]),
        signing: state.signsApart ? SIGNING['cluster-signing-cert-file'] : 'by default',
      },
    ),
  });
}

/** Remembers what follows from a state: tests walk the same states again and again. */
export function onceForState<R>(work: (world: World) => R): (world: World) => R {
  const known = new Map<string, { readonly result: R }>();
  return (world) => {
    const key = JSON.stringify({ ...world, hosts: [...world.hosts] });
    const found = known.get(key) ?? { result: work(world) };
    known.set(key, found);
    return found.result;
  };
}

export const fleetOf = onceForState((world: World): Fleet => {
  const first = world.hosts.get('cp1')!;
  const hosts = named(world).hosts as readonly LinuxHost[];
  const config = {
    clusters: [
      { name: '', cluster: { 'certificate-authority-data': Buffer.from(pem(world.announced)).toString('base64') } },
    ],
  };
  const info = { ...CLUSTER_INFO, data: { kubeconfig: stringify(config) } };
  const cluster = clusterOf({
    nodes: nodesOf(...hosts),
    apiServers: new Map(hosts.filter(({ role }) => role === 'control-plane').map(({ name }) => [name, 'ok'])),
    caFingerprint: CERTIFICATES[first.bundle[0]!].fingerprint,
    otherCas: certificates(first.bundle.slice(1)).map(({ fingerprint }) => fingerprint),
    objects: new Map([[objectKey(CLUSTER_INFO), info]]),
    rootCas: pem(world.pods),
    caReaders: world.hasOldReaders ? [{ namespace: 'a', name: 'x', workload: 'deployment/x' }] : [],
    settings: {},
  });
  return fleetIn(cluster, ...hosts.map((host) => seen(host, world.hosts.get(host.name)!)));
});

/** What a change does to the hosts. `half`: the run is killed, and the host loses power, in the middle of it. */
export function carryOut(
  world: World,
  host: string,
  step: string,
  { direction }: Rotating,
  half: 'whole' | 'half',
): void {
  const state = world.hosts.get(host)!;
  const rotation = rotationOf(fleetOf(world), 'ca');
  // Each of the steps that place the authority writes the kubeconfigs too.
  if (['both-trusted', 'survivor-signs', 'only-one-trusted'].includes(step)) delete state.admin;
  const { survivor, loser } = rotation === undefined ? { survivor: NEW, loser: OLD } : endOf(rotation, direction);
  const [left, gone] = [caOf(survivor), caOf(loser)];
  switch (step) {
    case 'authority-prepared':
      state.kept = half === 'half' ? { ...state.kept, fresh: 'new' } : { old: 'old', fresh: 'new', signing: 'old' };
      break;
    case 'signing-apart':
      state.signsApart = true;
      break;
    case 'both-trusted':
      if (!state.bundle.includes('new')) state.bundle = [...state.bundle, 'new'];
      if (!state.bundle.includes('old')) state.bundle = ['old', ...state.bundle];
      world.pods = state.bundle;
      break;
    case 'both-published':
      world.announced = ['old', 'new'];
      world.pods = ['old', 'new'];
      world.hasOldReaders = true;
      break;
    case 'workloads-restarted':
      world.hasOldReaders = false;
      break;
    case 'survivor-signs':
      state.kept = { ...state.kept, ...(state.kept.signing === undefined ? {} : { signing: left }) };
      state.key = left;
      state.bundle = state.bundle.includes(gone) ? [left, gone] : [left];
      if (half === 'whole') state.leaves = left;
      break;
    case 'kubelet-signed':
      state.kubelet = left;
      break;
    case 'only-one-trusted':
      state.bundle = [left];
      world.pods = [left];
      break;
    case 'one-published':
      world.announced = [left];
      world.pods = [left];
      break;
    case 'rotation-cleaned':
      state.signsApart = false;
      if (half === 'whole') state.kept = {};
      break;
    default:
      throw new Error(`no such step: ${step}`);
  }
}

/** A change that is due next, in the order of a run. */
export interface Due {
  readonly part: string;
  readonly host: string;
  readonly step: string;
}

/** The first change that a run of this direction would make, and whether it may. Undefined: it is through. */
export function nextDue(
  world: World,
  rotating: Rotating,
): (Due & { readonly target: Target; readonly diff: Step['diff'] }) | undefined {
  const fleet = fleetOf(world);
  const inventory = named(world);
  const parts = rotating.direction === 'back' ? ROTATION_PARTS.slice(1) : ROTATION_PARTS;
  for (const part of parts) {
    const begun = rotationOf(fleet, 'ca') !== undefined;
    if (!begun && part !== 'trust') continue;
    for (const { kind, name, hosts: places, steps } of rotateAuthorityPhases(inventory, rotating, part)) {
      if (!name.startsWith('rotate-')) continue;
      for (const host of kind === 'cluster' ? [cp1] : (places as readonly LinuxHost[]))
        for (const step of steps as readonly Step[]) {
          const facts = fleet.hosts.find((one) => one.host.name === host.name)!.facts;
          const target = {
            inventory,
            host,
            fleet,
            facts: kind === 'cluster' ? fleet.cluster : facts,
          } as unknown as Target;
          if (step.diff(target).length > 0) return { part, host: host.name, step: step.name, target, diff: step.diff };
        }
    }
  }
  return undefined;
}
