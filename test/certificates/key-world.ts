/** Control planes of a cluster whose key of service accounts is rotated, who holds tokens, and what each change does to them. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { type AuthorityCertificate, keyId, trustedKey } from '../../src/certificates/certificates.facts.ts';
import type { Rotating } from '../../src/certificates/rotation.step.ts';
import { endOf, rotationOf } from '../../src/certificates/rotation.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { rotateAuthorityPhases, ROTATION_PARTS, type RotationPart } from '../../src/commands/certs.phases.ts';
import type { Step, Target } from '../../src/engine/step.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { authoritiesWith } from '../fakes/authorities.ts';
import { clusterOf, cp1, cp2, fleetIn, inventoryOf, joinedHost, nodesOf, w1 } from '../fakes/cluster.ts';

type Key = 'old' | 'new';

const made = (name: string): AuthorityCertificate => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return trustedKey(`${name}${String(publicKey.export({ type: 'spki', format: 'pem' }))}`);
};
/** The key that kubeadm made has no name. */
export const KEYS: Readonly<Record<Key, AuthorityCertificate>> = {
  old: made(''),
  new: made('# sa-20261126t013000z\n'),
};
const hashOf = (key: Key): string => createHash('sha256').update(key).digest('hex');

export const START_MS = Date.parse('2026-11-26T01:30:00Z');
const STEP_MS = 60_000;
export const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });

export interface KeyState {
  bundle: readonly Key[];
  key: Key;
  kept: { old?: Key; fresh?: Key };
  /** Which key was last proved to sign. */
  signing?: Key;
  signingMs: number;
}

export interface PodState {
  name: string;
  workload: string;
  startedMs: number;
  /** Which key signed its token. */
  key: Key;
}

export interface KeyWorld {
  nowMs: number;
  readonly hosts: Map<string, KeyState>;
  pods: PodState[];
  secrets: { name: string; key: Key }[];
}

export const freshKeys = (): KeyWorld => ({
  nowMs: START_MS,
  hosts: new Map(
    [cp1, cp2].map(({ name }) => [
      name,
      { bundle: ['old'] as const, key: 'old' as const, kept: {}, signingMs: 0 } satisfies KeyState,
    ]),
  ),
  pods: [{ name: 'x-1', workload: 'deployment/x', startedMs: START_MS - 60_000, key: 'old' }],
  secrets: [],
});

const some = <V>(found: Readonly<Record<string, V | undefined>>) =>
  Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Readonly<Record<string, V>>;

function seen(host: LinuxHost, state: KeyState | undefined) {
  if (state === undefined) return joinedHost(host, { certificates: [] });
  const of = (key: Key | undefined) => (key === undefined ? undefined : KEYS[key]);
  const hash = (key: Key | undefined) => (key === undefined ? undefined : hashOf(key));
  const { bundle, key, kept, signing, signingMs } = state;
  return joinedHost(host, {
    certificates: [],
    authorities: authoritiesWith({
      sa: {
        bundle: bundle.map((one) => KEYS[one]),
        beside: some({ old: of(kept.old), fresh: of(kept.fresh), signing: of(signing) }),
        keys: some({ current: hash(key), old: hash(kept.old), fresh: hash(kept.fresh) }),
        signingMs,
      },
    }),
  });
}

export function fleetOfKeys(world: KeyWorld): Fleet {
  const hosts = [...world.hosts.keys()].map((name) => ({ cp1, cp2 })[name] ?? { ...cp2, name });
  const isRotated = [...world.hosts.values()].some(({ kept }) => kept.fresh !== undefined);
  const cluster = clusterOf({
    nowMs: world.nowMs,
    nodes: nodesOf(...hosts, w1),
    apiServers: new Map(hosts.map(({ name }) => [name, 'ok'])),
    settings: {},
    tokenUse: isRotated
      ? {
          pods: world.pods.map(({ key: _, ...pod }) => ({ ...pod, namespace: 'a', lifetimeMs: 3_607_000 })),
          secrets: world.secrets.map(({ name, key }) => ({ namespace: 'a', name, keyId: keyId(KEYS[key]) })),
        }
      : { pods: [], secrets: [] },
  });
  return fleetIn(cluster, ...hosts.map((host) => seen(host, world.hosts.get(host.name))), seen(w1, undefined));
}

/** What a change does. `half`: the run is killed, and the host loses power, in the middle of it. */
export function carryOutKeys(
  world: KeyWorld,
  host: string,
  step: string,
  { direction }: Rotating,
  half: 'whole' | 'half',
): void {
  world.nowMs += STEP_MS;
  const state = world.hosts.get(host)!;
  const rotation = rotationOf(fleetOfKeys(world), 'sa');
  const survivor: Key =
    rotation !== undefined && endOf(rotation, direction).survivor.fingerprint === KEYS.old.fingerprint ? 'old' : 'new';
  const loser: Key = survivor === 'old' ? 'new' : 'old';
  switch (step) {
    case 'authority-prepared':
      state.kept = { ...(half === 'whole' ? { old: 'old' } : {}), fresh: 'new' };
      break;
    case 'both-trusted':
      state.bundle = ['old', 'new'];
      break;
    case 'survivor-signs':
      state.signing = loser;
      state.key = survivor;
      if (half === 'half') break;
      state.bundle = state.bundle.includes(loser) ? [survivor, loser] : [survivor];
      state.signing = survivor;
      state.signingMs = world.nowMs;
      break;
    case 'workloads-restarted':
      world.nowMs += STEP_MS;
      for (const pod of world.pods)
        if (pod.workload !== 'none') Object.assign(pod, { startedMs: world.nowMs, key: survivor });
      break;
    case 'only-one-trusted':
      state.bundle = [survivor];
      break;
    case 'rotation-cleaned':
      if (half === 'half') break;
      delete state.signing;
      state.kept = {};
      break;
    default:
      throw new Error(`no such change: ${step}`);
  }
}

/** The first change that a run of this direction would make. Undefined: it is through. */
export function nextKeyChange(
  world: KeyWorld,
  rotating: Rotating,
  parts: readonly RotationPart[] = rotating.direction === 'back' ? ROTATION_PARTS.slice(1) : ROTATION_PARTS,
): { readonly host: string; readonly step: string; readonly target: Target; readonly diff: Step['diff'] } | undefined {
  const fleet = fleetOfKeys(world);
  const named = inventoryOf({
    hosts: [...fleet.hosts.map(({ host }) => host as LinuxHost)],
  });
  for (const part of parts) {
    if (rotationOf(fleet, 'sa') === undefined && part !== 'trust') continue;
    for (const { kind, name, hosts, steps } of rotateAuthorityPhases(named, rotating, part)) {
      if (!name.startsWith('rotate-')) continue;
      for (const host of kind === 'cluster' ? [cp1] : (hosts as readonly LinuxHost[]))
        for (const step of steps as readonly Step[]) {
          const facts =
            kind === 'cluster' ? fleet.cluster : fleet.hosts.find((one) => one.host.name === host.name)!.facts;
          const target = { inventory: named, host, fleet, facts } as unknown as Target;
          if (step.diff(target).length > 0) return { host: host.name, step: step.name, target, diff: step.diff };
        }
    }
  }
  return undefined;
}
