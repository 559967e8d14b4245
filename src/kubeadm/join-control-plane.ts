import { acting, liveCluster } from '../cluster/acting.ts';
import { controlPlaneNodes } from '../cluster/control-plane-nodes.ts';
import { founder } from '../cluster/founder.ts';
import { withJoinToken } from '../configuration/join-token.ts';
import { joinConfiguration } from '../configuration/kubeadm-config.ts';
import { kubeadmJob } from '../configuration/kubeadm-job.ts';
import { kubectl } from '../configuration/kubectl.ts';
import {
  membersOf,
  passAddGate,
  refuseTakenAddress,
  removeMembers,
  type BeforeMembership,
} from '../cluster/members.ts';
import { gate } from '../cluster/quorum.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { withSharedCertificates } from '../configuration/shared-certificates.ts';
import { leavesOf, signedCertificates } from '../configuration/signed-certificates.ts';
import { standing } from '../cluster/standing.ts';
import { refuseElsewhere } from '../cluster/worker-join.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import { observedLinux } from '../facts/fleet.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { waitForApi } from '../resources/wait-for-api.ts';

const MINUTES = 60_000;

/** True for a control plane that has yet to join; not for the one that founds the cluster. */
function isYetToJoin(target: Target): boolean {
  if (standing(target) === 'joined') return false;
  const who = founder(target.inventory, target.fleet);
  return !('host' in who && who.host.name === target.host.name);
}

/** What stands in the way of another member; undefined when nothing does. Members that the host itself left do not count. */
function obstacle({ inventory, host, fleet }: Target, cluster: ClusterUp): string | undefined {
  const own = new Set(membersOf(cluster, host).map(({ id }) => id));
  const others = cluster.members.filter(({ id }) => !own.has(id));
  if (inventory.etcd.topology === 'stacked') {
    const { allowed, why } = gate({ members: others, alarms: cluster.alarms }, { kind: 'add' });
    if (!allowed) return why;
  }
  // A host that came back empty has no API server, whatever the node of its name says; that node goes when it joins.
  const empty = new Set(
    observedLinux(fleet)
      .filter(({ facts }) => facts.kubernetesTraces.size === 0)
      .map((one) => one.host.name),
  );
  // The node of a joined host may have been deleted: its API server runs on.
  const members = observedLinux(fleet).filter(
    (one) =>
      one.host.role === 'control-plane' &&
      standing({ inventory, host: one.host, facts: one.facts, fleet }) === 'joined',
  );
  const joined = new Set(
    [...controlPlaneNodes(cluster), ...members.map((one) => one.host)]
      .map(({ name }) => name)
      .filter((name) => name !== host.name && !empty.has(name)),
  );
  const silent = [...joined]
    .map((name) => ({ name, said: cluster.apiServers.get(name) ?? 'not asked' }))
    .find(({ said }) => said !== 'ok');
  return silent === undefined ? undefined : `the API server of ${silent.name}: ${silent.said}`;
}

/** The control planes that are there already are well, by etcd's own view and every API server's: only then another joins. */
export const controlPlanesWell: Step = {
  name: 'control-planes-well',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, fleet } = target;
    if (!isYetToJoin(target) || fleet.cluster.state === 'absent') return [];
    if (fleet.cluster.state === 'down') return waitForApi(fleet.cluster);
    const found = obstacle(target, fleet.cluster);
    return found === undefined ? [] : [{ summary: `wait until ${host.name} may join: ${found}` }];
  },
};

async function join({ inventory, host, fleet }: Target, on: On, before: BeforeMembership): Promise<void> {
  const { caFingerprint, nodes } = liveCluster(fleet);
  const control = acting(fleet, host.name);
  const remote = on(control);
  const stacked = inventory.etcd.topology === 'stacked';
  const signed = await signedCertificates(on(host), inventory, leavesOf(host, 'join'));
  if (stacked) {
    await before(on, control, `before ${host.name} joined`);
    // What the host itself left, when it was emptied without being removed.
    await removeMembers(inventory, remote, host);
  }
  if (nodes.some(({ name }) => name === host.name))
    await remote.run(sh`${kubectl(inventory, control)} delete node --ignore-not-found ${host.name}`);
  if (stacked) await passAddGate(inventory, remote, host);
  await withSharedCertificates(remote, inventory, ({ files, ...key }) =>
    withJoinToken(remote, inventory, host.name, (token) =>
      kubeadmJob(
        on(host),
        inventory,
        'join',
        secretYaml([joinConfiguration(inventory, host, { token, caHash: caFingerprint, ...key })]),
        { ...files, ...signed },
      ),
    ),
  );
}

/** What of the host's earlier life is still in etcd, in words. @throws Refused when it cannot be taken out. */
function stale(target: Target, cluster: ClusterUp): string {
  refuseElsewhere(target);
  if (target.inventory.etcd.topology === 'stacked') refuseTakenAddress(cluster.members, target.host);
  const [member] = membersOf(cluster, target.host);
  if (member === undefined)
    return cluster.nodes.some(({ name }) => name === target.host.name) ? ' (found a stale node of that name)' : '';
  const { allowed, why } = gate(cluster, { kind: 'remove', id: member.id });
  if (!allowed) throw new Refused(target.host.name, `its stale etcd member ${member.id} cannot be removed: ${why}`);
  return ` (found its stale etcd member ${member.id}, which goes first)`;
}

/**
 * Joins a further control plane, one at a time, with the shared certificates (uploaded for it, or copied) and a token that
 * is minted for it; upload and token are deleted afterwards.
 */
export const joinControlPlane = (before: BeforeMembership): Step => ({
  name: 'kubeadm-join',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    if (!isYetToJoin(target)) return [];
    const { inventory, host, fleet } = target;
    const found = fleet.cluster.state === 'up' ? stale(target, fleet.cluster) : '';
    return [
      {
        summary: `join ${host.name} to ${inventory.endpoint} as a control plane${found}`,
        apply: (on) => join(target, on, before),
      },
    ];
  },
});

/** A joined control plane serves: its etcd member has started, votes and is healthy, and its API server is ready. */
export const controlPlaneServes: Step = {
  name: 'control-plane-serves',
  settleMs: 5 * MINUTES,
  diff: ({ inventory, host, fleet }) => {
    if (host.role !== 'control-plane') return [];
    const { cluster } = fleet;
    if (cluster.state !== 'up') return [{ summary: `wait until the control plane on ${host.name} serves` }];
    const said = cluster.apiServers.get(host.name) ?? 'no answer';
    const [member] = membersOf(cluster, host);
    const etcd =
      inventory.etcd.topology !== 'stacked'
        ? ''
        : member === undefined
          ? 'no etcd member'
          : member.learner
            ? 'a learner'
            : member.healthy
              ? ''
              : 'etcd is not healthy';
    const found = [...(said === 'ok' ? [] : [`API server: ${said}`]), ...(etcd === '' ? [] : [etcd])];
    return found.length === 0
      ? []
      : [{ summary: `wait until the control plane on ${host.name} serves (found ${found.join('; ')})` }];
  },
};
