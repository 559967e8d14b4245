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
import { partInRotations } from './authority/joining.ts';

const MINUTES = 60_000;

/** True for a control plane that has not joined yet and is not the founder. */
function isYetToJoin(target: Target): boolean {
  if (standing(target) === 'joined') return false;
  const first = founder(target.inventory, target.fleet);
  return !('host' in first && first.host.name === target.host.name);
}

/** Why no control plane may join now; undefined if one may. Stale etcd members of the host itself do not count. */
function obstacle({ inventory, host, fleet }: Target, cluster: ClusterUp): string | undefined {
  const own = new Set(membersOf(cluster, host).map(({ id }) => id));
  const others = cluster.members.filter(({ id }) => !own.has(id));
  if (inventory.etcd.topology === 'stacked') {
    const { allowed, why } = gate({ members: others, alarms: cluster.alarms }, { kind: 'add' });
    if (!allowed) return why;
  }
  // A reinstalled host has no API server, whatever its stale node says. kbuild deletes that node when the host joins.
  const empty = new Set(
    observedLinux(fleet)
      .filter(({ facts }) => facts.kubernetesTraces.size === 0)
      .map((observed) => observed.host.name),
  );
  // The API server of a joined host runs on even if its node was deleted.
  const members = observedLinux(fleet).filter(
    (observed) => observed.host.role === 'control-plane' && standing({ inventory, fleet, ...observed }) === 'joined',
  );
  const joined = new Set(
    [...controlPlaneNodes(cluster), ...members.map((member) => member.host)]
      .map(({ name }) => name)
      .filter((name) => name !== host.name && !empty.has(name)),
  );
  const notReady = [...joined]
    .map((name) => ({ name, answer: cluster.apiServers.get(name) ?? 'not asked' }))
    .find(({ answer }) => answer !== 'ok');
  return notReady === undefined ? undefined : `the API server of ${notReady.name}: ${notReady.answer}`;
}

/** Waits until etcd and the API servers of all joined control planes are healthy: only then may another one join. */
export const controlPlanesWell: Step = {
  name: 'control-planes-well',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, fleet } = target;
    if (!isYetToJoin(target) || fleet.cluster.state === 'absent') return [];
    if (fleet.cluster.state === 'down') return [waitForApi(fleet.cluster)];
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
  const { files: kept, ...patches } = await partInRotations({ inventory, fleet }, control, on);
  if (stacked) {
    await before(on, control, `before ${host.name} joined`);
    // The host may have stale members: it was reinstalled without `kbuild remove`.
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
        secretYaml([joinConfiguration(inventory, host, { token, caHash: caFingerprint, ...key, ...patches })]),
        { ...files, ...signed, ...kept },
      ),
    ),
  );
}

/** The leftovers of the host's earlier join, for the summary. @throws Refused if its etcd member cannot be removed */
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
 * Joins a further control plane with the shared certificates (uploaded for it, or copied) and a bootstrap token of its own.
 * kbuild deletes the upload and the token afterwards.
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

/** Waits until a joined control plane serves: its etcd member votes and is healthy, and its API server is ready. */
export const controlPlaneServes: Step = {
  name: 'control-plane-serves',
  settleMs: 5 * MINUTES,
  diff: ({ inventory, host, fleet }) => {
    if (host.role !== 'control-plane') return [];
    const { cluster } = fleet;
    if (cluster.state !== 'up') return [{ summary: `wait until the control plane on ${host.name} serves` }];
    const answer = cluster.apiServers.get(host.name) ?? 'no answer';
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
    const found = [...(answer === 'ok' ? [] : [`API server: ${answer}`]), ...(etcd === '' ? [] : [etcd])];
    return found.length === 0
      ? []
      : [{ summary: `wait until the control plane on ${host.name} serves (found ${found.join('; ')})` }];
  },
};
