import { passEtcdGate } from '../cluster/members.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Restart, Step, Target } from '../engine/step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import {
  keyFiles,
  KUBECONFIGS,
  pemOf,
  placeAuthority,
  type Placement,
  placementFiles,
  placeServiceAccountKey,
  readersOf,
} from './authority-files.ts';
import type { AuthorityCertificate, RotatedName } from './certificates.facts.ts';
import { lostKeys, PKI_FOLDER, readPki, sharedKeyFiles } from './shared-files.ts';

/**
 * Saves, before the authorities of a control plane change, the data for a way back: a copy of its /etc/kubernetes, and
 * once a snapshot of etcd.
 */
export type KeepControlPlane = (on: On, host: LinuxHost) => Promise<void>;

/** Limit in ms until kbuild observes that a host's components are younger than the files that they read. */
export const PLACED_SETTLE_MS = 5 * 60_000;

/** The certificates as text: subject and expiry; of public keys the names. */
export const bundleText = (all: readonly AuthorityCertificate[]): string =>
  all.length === 0
    ? 'none'
    : all
        .map(({ subject, expiresMs }) =>
          expiresMs === Infinity ? subject : `${subject} until ${new Date(expiresMs).toISOString().slice(0, 10)}`,
        )
        .join(' and ');

/** Kubeconfigs of the host that contain other certificates. A kubeconfig that names a file contains none. */
const otherKubeconfigs = ({ facts }: Target, bundle: readonly AuthorityCertificate[]): readonly string[] =>
  KUBECONFIGS.filter((name) => {
    const found = facts.authorities.kubeconfigs.get(name) ?? [];
    return found.length > 0 && pemOf(found) !== pemOf(bundle);
  });

/** The API reports whole seconds. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** Components of the host that are older than the authority's file, which they read only when they start. */
function olderReaders({ inventory, host, facts, fleet: { cluster } }: Target, name: RotatedName): readonly string[] {
  if (host.role !== 'control-plane' || cluster.state !== 'up') return [];
  const { changedMs } = facts.authorities.files[name];
  return readersOf(inventory, name).filter((component) =>
    cluster.pods.some(
      ({ labels, node, startedMs }) =>
        labels['component'] === component && node === host.name && startedMs > 0 && wholeSeconds(changedMs) > startedMs,
    ),
  );
}

/**
 * True for a kubelet that is older than the file of the cluster's CA: it read it, or its kubeconfig, when it started.
 */
function hasOldKubelet({ facts }: Target, name: RotatedName): boolean {
  const startedMs = facts.services.get('kubelet')?.startedMs ?? 0;
  return name === 'ca' && startedMs > 0 && wholeSeconds(facts.authorities.files.ca.changedMs) > startedMs;
}

/**
 * The reasons why a host, or a component on it, does not trust these certificates yet, as text after "found"; empty if
 * all do.
 */
function placementFlaws(target: Target, name: RotatedName, bundle: readonly AuthorityCertificate[]): readonly string[] {
  const has = target.facts.authorities.files[name].bundle;
  const conf = name === 'ca' ? otherKubeconfigs(target, bundle) : [];
  const older = [...olderReaders(target, name), ...(hasOldKubelet(target, name) ? ['kubelet'] : [])];
  return [
    ...(pemOf(has) === pemOf(bundle) ? [] : [bundleText(has)]),
    ...(conf.length === 0 ? [] : [`others in ${conf.join(', ')}`]),
    ...(older.length === 0 ? [] : [`${older.join(', ')} older than the file`]),
  ];
}

/** The operator's names of these components, and about how long each is away. */
const RESTARTS: Readonly<Record<string, Pick<Restart, 'what' | 'aboutMs'>>> = {
  'kube-apiserver': { what: 'API server', aboutMs: ABOUT_MS.apiServer },
  'kube-controller-manager': { what: 'controller manager', aboutMs: ABOUT_MS.pod },
  'kube-scheduler': { what: 'scheduler', aboutMs: ABOUT_MS.pod },
  'kube-vip': { what: 'kube-vip', aboutMs: ABOUT_MS.pod },
  etcd: { what: 'etcd', aboutMs: ABOUT_MS.pod },
};

/** The components that restart on a host when it gets other certificates of an authority. */
export function placementRestarts(
  { inventory, host }: Pick<Target, 'inventory' | 'host'>,
  name: RotatedName,
): readonly Restart[] {
  const pods = host.role === 'control-plane' ? readersOf(inventory, name) : [];
  return [
    ...pods.map((pod) => ({ ...RESTARTS[pod]!, hosts: [host.name] })),
    ...(name === 'ca' ? [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }] : []),
  ];
}

/**
 * Installs these certificates on a host, and restarts the components that have read others. @throws Refused while etcd
 * needs a member that must restart
 */
export async function place(
  { inventory, host }: Pick<Target, 'inventory' | 'host'>,
  placement: Omit<Placement, 'name' | 'pods' | 'restartsKubelet'> &
    Partial<Pick<Placement, 'pods' | 'restartsKubelet'>> & { readonly name: RotatedName },
  on: On,
): Promise<void> {
  const { name, bundle } = placement;
  if (name === 'sa') {
    await on(host).job('place-authority', placeServiceAccountKey(inventory, host, bundle), keyFiles(bundle));
    return;
  }
  const pods = host.role === 'control-plane' ? readersOf(inventory, name) : [];
  const whole = { pods, restartsKubelet: name === 'ca', ...placement, name };
  // Does not require that other control planes are healthy: while an authority changes, this change may repair them.
  if (whole.pods.includes('etcd')) await passEtcdGate(inventory, on(host), host);
  await on(host).job('place-authority', placeAuthority(inventory, host, whole), placementFiles(whole.bundle));
}

/** The certificates that a host must trust. */
interface Wanted {
  readonly bundle: readonly AuthorityCertificate[];
  /** The beginning of the summary. */
  readonly why: string;
  /** Common names of authorities that no port names any more. */
  readonly withdrawn?: readonly string[];
  /** Runs before the host changes. If it throws, the host stays as it is. */
  readonly before?: (on: On, host: LinuxHost) => Promise<void>;
}

/** The change that installs these certificates on a host; none if it trusts them already. */
export function placing(
  target: Target,
  name: RotatedName,
  { bundle, why, withdrawn = [], before }: Wanted,
): readonly Change[] {
  const flaws = placementFlaws(target, name, bundle);
  if (flaws.length === 0) return [];
  return [
    {
      summary: `${why} (found ${flaws.join('; ')})`,
      disrupts: true,
      restarts: placementRestarts(target, name),
      apply: async (on) => {
        await before?.(on, target.host);
        await place(target, { name, bundle, withdrawn }, on);
      },
    },
  ];
}

/**
 * Copies a key that all control planes share to one that has lost it: its next renewal, or a join through it, would
 * fail.
 */
export const sharedKeysBack: Step = {
  name: 'shared-keys',
  watches: ({ inventory, host }) => ({ files: sharedKeyFiles(inventory, host) }),
  diff: ({ inventory, host, facts, fleet }) =>
    lostKeys(inventory, fleet, { host, facts }).flatMap(({ key, from }) =>
      from === undefined
        ? []
        : [
            {
              summary: `copy ${PKI_FOLDER}/${key} from ${from.name} (found none)`,
              apply: async (on) => {
                const content = (await readPki(on(from), [key])).get(key);
                if (content === undefined) throw new Error(`${from.name} did not give ${PKI_FOLDER}/${key}`);
                await on(host).write(`${PKI_FOLDER}/${key}`, content, 0o600);
              },
            },
          ],
    ),
};
