import { refusedOfLive } from '../cluster/live.ts';
import { restartsOf } from '../engine/restarts.ts';
import { throwAll, UsageError } from '../errors.ts';
import { endpointHost, endpointParts } from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { moveReasons } from '../kubeadm/endpoint.refusal.ts';
import { isLoopback, isMoving, liveEndpoint, serverAt } from '../kubeadm/endpoint.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, reportNothingToDo, type Run, showOnly, showPlan } from '../session/run.ts';
import { refuseUnreachable } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import type { MoveEndpointOptions } from './hosts.command.ts';
import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig.ts';
import { moveEndpointPhases, oldEndpointReasons } from './move-endpoint.phases.ts';

/** @throws UsageError unless the command line names the inventory's endpoint: the operator says the same twice */
function checkOperand({ endpoint }: Inventory, [operand = '']: readonly string[]): void {
  if (operand === endpoint) return;
  const { host = '', port } = endpointParts(operand) ?? {};
  if (host === '' || port === undefined)
    throw new UsageError(`"${operand}" is no endpoint`, {
      remedy: 'an endpoint is HOST:PORT, e.g. k8s.example.com:6443',
    });
  throw new UsageError(`the command line says ${operand}, and the endpoint of the inventory is ${endpoint}`, {
    remedy: `set kubernetes.endpoint (and loadBalancer) to ${operand} in the inventory, then run the same again`,
  });
}

/** @throws what keeps the cluster where it is */
function refuse(run: Run): void {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  const nodes = fleet.cluster.state === 'up' ? new Set(fleet.cluster.nodes.map(({ name }) => name)) : undefined;
  refuseUnreachable(
    run,
    ({ name, role }) => nodes?.has(name) !== false || role === 'load-balancer',
    (names) =>
      `every node must be led to the new endpoint: make ${names.join(', ')} reachable, or take out what is gone ` +
      'for good with `kbuild remove`',
  );
  refuseForeign(
    run,
    inventory.hosts.map(({ name }) => name),
  );
  throwAll(refusedOfLive([...moveReasons, ...oldEndpointReasons], { inventory, fleet }));
}

/** What the operator may do with the old endpoint, and when. */
function endText(old: string, { endpoint, loadBalancer }: Run['inventory']): string {
  if (old === '' || old === endpoint) return '';
  const [forUsers, after] = [
    loadBalancer.kind === 'local'
      ? 'Give users the kubeconfig that `kbuild kubeconfig` prints, with the address of a control plane'
      : 'Give every kubeconfig outside the cluster the new one',
    isLoopback(serverAt(old))
      ? '`kbuild up` stops what kbuild built for it'
      : `when no client uses ${old} any more, take down what serves it`,
  ];
  return (
    `the cluster is led to ${endpoint}. The old endpoint ${old} still serves, and kbuild removes nothing of it. ` +
    `${forUsers}; ${after}. The API servers' certificates go on to name ${endpointHost(old)}\n`
  );
}

async function move(run: Run, flags: MoveEndpointOptions): Promise<number> {
  const { inventory, connected } = run;
  const { cluster } = connected.observations.fleet();
  const old = cluster.state === 'up' && isMoving(inventory, cluster) ? liveEndpoint(cluster) : '';
  const work: Work = {
    phases: () => reachedPhases(run, moveEndpointPhases(inventory, connected.observations.fleet())),
    refuse: () => refuse(run),
  };
  const plan = await firstPlan(run, work);
  if (flags.plan === true) return showOnly(run, plan);
  const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
  await checkKubeconfigPath(kubeconfig);
  if (plan.changes.length === 0) {
    // A run that was cut off at its very end may not have written it.
    await writeKubeconfig(run, kubeconfig, 'always');
    return reportNothingToDo(run);
  }
  showPlan(run, plan, { restarts: restartsOf(inventory, plan.changes) });
  if (!(await confirmed(run, `Lead ${inventory.name} to ${inventory.endpoint}?`))) return 0;
  const { code, isDone } = await carryOut(run, work, plan);
  if (!isDone) return code;
  await writeKubeconfig(run, kubeconfig, 'always');
  run.context.err(endText(old, inventory));
  return 0;
}

/** `kbuild move-endpoint HOST:PORT`: leads the cluster to the inventory's endpoint. */
export const runMoveEndpoint = (
  outer: Context,
  flags: MoveEndpointOptions,
  operands: readonly string[],
): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'move-endpoint',
      json: flags.plan === true ? 'document' : 'events',
      reportsUnreachable: true,
      checkInventory: (inventory) => checkOperand(inventory, operands),
    },
    (run) => move(run, flags),
  );
