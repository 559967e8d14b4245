import { isMemberOf } from '../cluster/members.ts';
import { passRestartGate } from '../cluster/restart-gate.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { etcdDocuments } from '../etcd/config.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { minorFacts, minorOf, versionIn } from '../versions.ts';
import type { KeepBefore } from './control-plane.step.ts';
import { pullEtcdBetween } from './fetch.step.ts';
import { etcdBefore, type Hop, withEtcdTag } from './hop.ts';
import { installKubelet } from './node.step.ts';
import { isOlder } from './versions.ts';

const MINUTES = 60_000;

/** The version of the member that runs on a host of role etcd; undefined while it does not answer. */
function memberVersion({ host, fleet: { cluster } }: Target): string | undefined {
  const { etcd } = cluster;
  return etcd?.state === 'up' ? etcd.members.find(isMemberOf(host))?.version : undefined;
}

const keptFor =
  ({ version }: Hop, keep: KeepBefore) =>
  (on: On, host: LinuxHost): Promise<void> =>
    keep(on, host, version);

/**
 * Waits until the member of the host runs a version, or changes it: kubeadm writes the manifest, the kubelet starts it.
 */
function brought(
  target: Target,
  to: string,
  inventory: Inventory,
  keep: (on: On, host: LinuxHost) => Promise<void>,
): ReturnType<Step['diff']> {
  const { host, fleet } = target;
  const { etcd } = fleet.cluster;
  if (standing(target) !== 'joined') return [];
  if (etcd?.state !== 'up')
    return [{ summary: `wait for etcd to answer${etcd === undefined ? '' : ` (${etcd.state})`}` }];
  const found = memberVersion(target);
  if (!isOlder(found, to)) return [];
  return [
    {
      summary: `bring etcd of ${host.name} to ${to} (found ${found ?? 'unknown'})`,
      disrupts: true,
      restarts: [{ what: 'etcd', hosts: [host.name], aboutMs: ABOUT_MS.staticPod }],
      apply: async (on) => {
        await passRestartGate(target, on);
        await keep(on, host);
        await on(host).job('etcd-upgrade', sh`kubeadm init phase etcd local --config config.yaml`, {
          'config.yaml': secretYaml(etcdDocuments(inventory, host)),
        });
      },
    },
  ];
}

/** Brings a member on a host of its own to the oldest patch from which the hop may go on. */
export const builtEtcdMinimum = (hop: Hop, keep: KeepBefore): Step => ({
  name: 'etcd-minimum',
  watches: { trees: [paths.upgrade] },
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const minimum = etcdBefore(hop);
    return minimum === undefined
      ? []
      : brought(target, minimum, withEtcdTag(target.inventory, `${minimum}-0`), async (on, host) => {
          await pullEtcdBetween(on, target, hop);
          await keep(on, host, hop.version);
        });
  },
});

/** Brings a member on a host of its own to the etcd that kubeadm of the hop has. Needs that kubeadm on the host. */
export const builtEtcdUpgraded = (hop: Hop, keep: KeepBefore): Step => ({
  name: 'etcd-upgraded',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    // A patch release may bring a newer one; kubeadm knows.
    const wanted = versionIn(minorFacts(minorOf(hop.version))?.images.etcd);
    return wanted === undefined ? [] : brought(target, wanted, target.inventory, keptFor(hop, keep));
  },
});

/** Upgrades the kubelet of a host of role etcd, which is no node: its etcd runs on. */
export const etcdKubeletUpgraded = (hop: Hop): Step => ({
  name: 'kubelet-upgraded',
  watches: { packages: ['kubelet', 'kubectl'] },
  diff: (target) => {
    const { host, facts } = target;
    const found = versionIn(facts.packages.get('kubelet')?.version);
    if (standing(target) !== 'joined' || !isOlder(found, hop.version)) return [];
    return [
      {
        summary: `upgrade the kubelet of ${host.name} to ${hop.version} (found ${found ?? 'none'})`,
        disrupts: true,
        restarts: [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }],
        apply: (on) => installKubelet(target, hop, on),
      },
    ];
  },
});
