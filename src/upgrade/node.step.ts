import { lowestApiServer } from '../cluster/api-versions.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { mapChanges, when, whenApiAnswers, withChanges } from '../engine/combinators.ts';
import { type AnyStep, type AnyTarget, registeredNode } from '../engine/drain.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import { awayFrom, drainedAsTold, type NodeChange, othersAreBack, type RollOptions } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { installation } from '../host/packages/installer.value.ts';
import { packages } from '../host/packages/packages.step.ts';
import { kubeadmUpgrade } from '../kubeadm/upgrade-job.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { compareVersions, minorOf, versionIn } from '../versions.ts';
import { atHop, foundAt, type Hop } from './hop.ts';
import { removedTables } from './removed.value.ts';
import { hasOldKubelet, isBehind, isOlder, runsNewer } from './versions.ts';

const MINUTES = 60_000;

/** Flags that kubeadm wrote for older kubelets, and with which the kubelet of the hop does not start. */
export const removedFlags = ({ version }: Hop): readonly string[] =>
  removedTables()
    .filter(({ minor }) => compareVersions(minor, minorOf(version)) <= 0)
    .flatMap(({ flags }) => flags('kubelet').flatMap(({ name, kbuildRemovesIt }) => (kbuildRemovesIt ? [name] : [])));

const joinedOnly = (step: Step): Step => when((target) => standing(target) === 'joined', step);

/** A step that has its turn only before the kubelet of the hop is there: later no pod is away from the node. */
export const whileBehind = <K extends 'linux' | 'windows'>(hop: Hop, step: Step<K>): Step<K> =>
  when<K>((target) => standing(target) === 'joined' && isBehind(target, hop), step);

/** A step without what an earlier hop, which is still to come on this host, will have done by then. */
export const onceOnly = (earlier: readonly Hop[], step: Step): Step =>
  withChanges(step, (found, target) => {
    if (found.length === 0) return found;
    const before = earlier
      .filter((hop) => isBehind(target, hop))
      .flatMap((hop) => atHop<'linux'>(hop, step).diff(target))
      .map(({ summary }) => summary);
    return found.filter(({ summary }) => !before.includes(summary));
  });

/** The version of a program after the hop: that of the hop, or a newer one that an interrupted run has installed. */
const after =
  (hop: Hop, name: string) =>
  ({ facts }: Target): string => {
    const found = versionIn(facts.packages.get(name)?.version);
    return found !== undefined && compareVersions(found, hop.version) > 0 ? found : hop.version;
  };

/**
 * The kubeadm of the hop. A newer one stays only where the host runs something newer than the hop: elsewhere it is of
 * an upgrade that was taken back, and would write its own etcd and manifests into the hop.
 */
const kubeadmOf =
  (hop: Hop) =>
  (target: Target): string =>
    runsNewer(target, hop) ? after(hop, 'kubeadm')(target) : hop.version;

/** A step whose changes nothing in the cluster shows: after them the cluster need not be observed again. */
const onHostOnly = (step: Step): Step => mapChanges(step, (change) => ({ ...change, touches: 'host' }));

/** Installs kubeadm of the hop. Nothing else on the host changes. */
export const kubeadmPackage = (hop: Hop): Step =>
  onHostOnly(
    joinedOnly(
      packages('kubeadm-package', () => ({ kubeadm: kubeadmOf(hop) }), {
        upgrades: 'held',
        sources: ['kubernetes'],
      }),
    ),
  );

/** What is found of a host's kubelet: the running one, and the installed programs. */
const oldPrograms = (target: Target, { version }: Hop): readonly string[] =>
  ['kubelet', 'kubectl'].filter((name) => isOlder(versionIn(target.facts.packages.get(name)?.version), version));

/** True while the running kubelet of the node, or an installed one, is older than the hop. */
const isDue = (target: Target, hop: Hop): boolean => {
  const node = registeredNode(target);
  return node !== undefined && (hasOldKubelet(node, hop.version) || oldPrograms(target, hop).length > 0);
};

/** Installs kubelet and kubectl of the hop, and restarts the kubelet. */
export async function installKubelet(target: Target, hop: Hop, on: On): Promise<void> {
  const { inventory, host } = target;
  const names = ['kubelet', 'kubectl'];
  const request = {
    packages: Object.fromEntries(names.map((name) => [name, after(hop, name)(target)])),
    optional: [],
    hold: names,
    sources: ['kubernetes'] as const,
    proxy: inventory.proxy,
  };
  await on(host).job('packages', installation(target, request));
  await on(host).run(sh`systemctl daemon-reload && systemctl restart kubelet`);
}

/**
 * Upgrades the kubelet of a drained node: kubeadm's part first, then the packages. A flag that the newer kubelet
 * refuses goes before it starts.
 */
const kubeletUpgraded = (hop: Hop, { atOnce }: RollOptions): Step => ({
  name: 'kubelet-upgraded',
  watches: { packages: ['kubelet', 'kubectl'] },
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { inventory, host } = target;
    if (standing(target) !== 'joined' || !isDue(target, hop)) return [];
    const found = foundAt(hop, versionIn(registeredNode(target)?.kubeletVersion) ?? 'unknown');
    return [
      {
        summary: `upgrade the kubelet of ${host.name} from ${found} to ${hop.version}`,
        disrupts: true,
        restarts: [
          {
            ...{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet },
            atOnce: host.role === 'worker' ? atOnce : 1,
          },
        ],
        apply: async (on) => {
          const remote = on(host);
          // On a control plane it has run already.
          if (host.role === 'worker') await kubeadmUpgrade(remote, inventory, host, 'node');
          await remote.run(script('upgrade/kubelet-flags.sh', { REMOVED: removedFlags(hop) }));
          await installKubelet(target, hop, on);
        },
      },
    ];
  },
});

/**
 * Waits until every API server has the version of the hop, for no kubelet may be newer, and until every worker that
 * this upgrade has drained before takes pods again, and its workloads are back. A worker that does not come back keeps
 * all others as they are: what broke it would break them.
 */
export const othersUpgraded = (hop: Hop, batch: readonly { readonly name: string }[]): AnyStep & Step<'cluster'> =>
  othersAreBack<Pick<Target, 'fleet'>>((cluster) => {
    const { drained, missed } = awayFrom(cluster, batch);
    // At most one of the two, so that the plan of a whole upgrade stays short.
    if (isOlder(lowestApiServer(cluster), hop.version)) return `wait until every API server runs ${hop.version}`;
    const names = (nodes: readonly NodeView[]): string => nodes.map(({ name }) => name).join(', ');
    if (drained.length > 0) return `wait until ${names(drained)} takes pods again`;
    return missed.length === 0 ? undefined : `wait until the workloads of ${names(missed)} are back`;
  });

/** True for a host of either system whose node is drained for the hop; also while the API does not answer. */
const drainsFor =
  (hop: Hop) =>
  (target: AnyTarget): boolean => {
    const node = registeredNode(target);
    return node === undefined ? target.fleet.cluster.state === 'down' : hasOldKubelet(node, hop.version);
  };

/** What an upgrade does to a node of either system. Nothing of it is done while the API does not answer. */
export const upgradeRoll = <K extends 'linux' | 'windows'>(
  hop: Hop,
  options: RollOptions,
  { before, whileDrained, gates, last = [] }: Pick<NodeChange<K>, 'before' | 'whileDrained' | 'gates' | 'last'>,
): NodeChange<K> => ({
  isDue: drainsFor(hop),
  before: before.map((step) => atHop<K>(hop, step)),
  drain: drainedAsTold(options),
  whileDrained: whileDrained.map((step) => atHop<K>(hop, whenApiAnswers(step))),
  gates: gates.map((step) => atHop<K>(hop, whenApiAnswers(step))),
  last,
  each: (step) => atHop<K>(hop, step),
});

/** The same for a Linux host. `whileDrained`: what changes besides the kubelet, and before it. */
export const linuxUpgradeRoll = (
  hop: Hop,
  options: RollOptions,
  { whileDrained, ...more }: Parameters<typeof upgradeRoll<'linux'>>[2],
): NodeChange<'linux'> =>
  upgradeRoll<'linux'>(hop, options, {
    ...more,
    whileDrained: [...whileDrained.map((step) => whileBehind(hop, step)), kubeletUpgraded(hop, options)],
  });
