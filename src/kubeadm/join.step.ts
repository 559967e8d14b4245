import { leavesOf, signedCertificates } from '../certificates/leaves.ts';
import { withSharedCertificates } from '../certificates/shared-files.ts';
import { observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { acting, liveCluster } from '../cluster/live.ts';
import {
  type BeforeMembership,
  gate,
  membersOf,
  passAddGate,
  refuseTakenAddress,
  removeMembers,
} from '../cluster/members.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { founder, standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { joinConfiguration } from './config.ts';
import { kubeadmJob } from './run-kubeadm.step.ts';
import { partInRotations } from './join-during-rotation.step.ts';
import { refuseElsewhere, withJoinToken, withWorkerJoin, workerJoinText } from './worker-join.ts';

const MINUTES = 60_000;

/** True for a control plane that has not joined yet and is not the founder. */
function isYetToJoin(target: Target): boolean {
  if (standing(target) === 'joined') return false;
  const first = founder(target.inventory, target.fleet);
  return !('host' in first && first.host.name === target.host.name);
}

/**
 * The reason why the control plane may not join now; undefined if it may. Ignores stale etcd members of the host
 * itself.
 */
function obstacle({ inventory, host, fleet }: Target, cluster: ClusterUp): string | undefined {
  const own = new Set(membersOf(cluster, host).map(({ id }) => id));
  const others = cluster.members.filter(({ id }) => !own.has(id));
  if (inventory.etcd.topology === 'stacked') {
    const { allowed, why } = gate({ members: others, alarms: cluster.alarms }, { kind: 'add' });
    if (!allowed) return why;
  }
  // A reinstalled host has no API server, even if its stale Node object exists. kbuild deletes that Node when the host
  // joins.
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
  if (!allowed)
    throw new Refused('quorum', target.host.name, `its stale etcd member ${member.id} cannot be removed: ${why}`);
  return ` (found its stale etcd member ${member.id}, which is removed first)`;
}

/**
 * Joins a further control plane with the shared certificates (uploaded for it, or copied) and a bootstrap token of its
 * own. kbuild deletes the upload and the token afterwards.
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

/** Joins a worker with a bootstrap token of its own, which kbuild deletes afterwards. */
export const joinWorker: Step = {
  name: 'kubeadm-join',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host } = target;
    return [
      {
        summary: workerJoinText(target),
        apply: async (on) => {
          const signed = await signedCertificates(on(host), inventory, leavesOf(host, 'join'));
          await withWorkerJoin(target, on, (discovery) =>
            kubeadmJob(
              on(host),
              inventory,
              'join',
              secretYaml([joinConfiguration(inventory, host, discovery)]),
              signed,
            ),
          );
        },
      },
    ];
  },
};
