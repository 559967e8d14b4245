import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { same } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';
import { KUBE_PROXY } from './endpoint-objects.step.ts';
import { settingsOf } from './settings.ts';

/**
 * Settings of `kubeadm.cluster` that kbuild can change on a live cluster: it rewrites the control plane's manifests.
 */
const CHANGEABLE: readonly string[] = [
  ...['apiServer', 'controllerManager', 'scheduler'].flatMap((key) =>
    ['extraArgs', 'extraVolumes', 'extraEnvs'].map((name) => `${key}.${name}`),
  ),
  // The step `api-server-names` signs the certificates before that.
  'apiServer.certSANs',
  // Only the next certificates use these: no component of the control plane reads them.
  'certificateValidityPeriod',
  'caCertificateValidityPeriod',
];

/** Changeable settings of a stacked etcd: kubeadm has a phase that rewrites etcd's manifest on a control plane. */
const CHANGEABLE_OF_STACKED = ['etcd.local.extraArgs', 'etcd.local.extraEnvs'];

/**
 * Arguments of etcd that identify the member and its cluster, and give its addresses. With other values a member may
 * start a new cluster, or the other members may lose it (etcd.io/docs/v3.6/op-guide/configuration).
 */
const OF_MEMBERSHIP =
  /^(name|force-new-cluster.*|initial-.*|discovery.*|advertise-client-urls|listen-(client|peer).*-urls)$/;

const keysOf = (...objects: readonly (JsonObject | undefined)[]): readonly string[] => [
  ...new Set(objects.flatMap((object) => Object.keys(object ?? {}))),
];

const inner = (object: JsonObject | undefined, key: string): JsonObject | undefined =>
  object?.[key] as JsonObject | undefined;

/** Edited settings at a path that kbuild cannot apply to a live cluster. */
function fixedEdits(
  changeable: readonly string[],
  wanted: JsonObject | undefined,
  noted: JsonObject | undefined,
  path = '',
): readonly string[] {
  return keysOf(wanted, noted)
    .filter((key) => !same(wanted?.[key], noted?.[key]))
    .flatMap((key) => {
      const at = `${path}${key}`;
      if (changeable.includes(at)) return [];
      return changeable.some((one) => one.startsWith(`${at}.`))
        ? fixedEdits(changeable, inner(wanted, key), inner(noted, key), `${at}.`)
        : [`kubeadm.cluster.${at}`];
    });
}

type Argument = { readonly name: string };

const listOf = (value: unknown): readonly Argument[] =>
  (Array.isArray(value) ? (value as readonly Partial<Argument>[]) : []).filter(
    (one): one is Argument => typeof one.name === 'string',
  );

/**
 * The values of these arguments that etcd gets, also from its environment (`ETCD_FORCE_NEW_CLUSTER`), by the argument's
 * name.
 */
function membershipIn(cluster: JsonObject | undefined): readonly Argument[] {
  const local = inner(inner(cluster, 'etcd'), 'local');
  const variables = listOf(local?.['extraEnvs'])
    .filter(({ name }) => name.startsWith('ETCD_'))
    .map((one) => ({ ...one, name: one.name.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-') }));
  return [...listOf(local?.['extraArgs']), ...variables].filter(({ name }) => OF_MEMBERSHIP.test(name));
}

/** The arguments of membership that the operator edited, added or removed. */
function membershipEdits(wanted: JsonObject, noted: JsonObject | undefined): readonly string[] {
  const [now, before] = [membershipIn(wanted), membershipIn(noted)];
  const of = (all: readonly Argument[], argument: string) => all.filter(({ name }) => name === argument);
  return [...new Set([...now, ...before].map(({ name }) => name))]
    .filter((name) => !same(of(now, name), of(before, name)))
    .map((name) => `--${name} in kubeadm.cluster.etcd.local`);
}

/**
 * @throws Refused if the inventory wants no kube-proxy, and the cluster runs one: kbuild cannot tell whether something
 * else serves Services
 */
export function refuseKubeProxy(inventory: Inventory, cluster: ClusterUp): void {
  if (inner(inventory.kubeadm.cluster, 'proxy')?.['disabled'] !== true) return;
  if (!cluster.objects.has(objectKey(KUBE_PROXY))) return;
  throw new Refused(
    'fixed-setting',
    inventory.name,
    'the cluster runs kube-proxy, and kbuild does not take it away (network.kubeProxy: none): Services would stop ' +
      'unless the network serves them',
    'set network.kubeProxy back; or, when the network serves Services without it, remove the DaemonSet kube-proxy in ' +
      'kube-system yourself, then run the same command again, and `kbuild reboot`, which ends its rules on the nodes',
  );
}

/** @throws Refused if a setting of `kubeadm.cluster` was edited that kbuild cannot apply to a live cluster */
export function refuseFixed(inventory: Inventory, cluster: ClusterUp): void {
  refuseKubeProxy(inventory, cluster);
  const noted = cluster.settings;
  const changeable = [
    ...CHANGEABLE,
    ...(inventory.etcd.topology === 'stacked' ? CHANGEABLE_OF_STACKED : []),
    // The operator has taken it away; it does not come back by itself.
    ...(inner(inventory.kubeadm.cluster, 'proxy')?.['disabled'] === true ? ['proxy.disabled'] : []),
  ];
  const [wanted, before] = [settingsOf(inventory).cluster, inner(noted, 'cluster')];
  const fixed = [
    ...fixedEdits(changeable, wanted, before),
    ...(inventory.etcd.topology === 'stacked' ? membershipEdits(wanted, before) : []),
  ];
  if (fixed.length > 0)
    throw new Refused(
      'fixed-setting',
      inventory.name,
      `${fixed.join(', ')} was edited, and kbuild cannot change it on a live cluster`,
      'set it back to what the cluster was made with',
    );
}
