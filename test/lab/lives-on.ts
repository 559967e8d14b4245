/** That a cluster can live on after an action: its certificates are known, nothing is left to do, and hosts can join it. */
import { expect } from 'vitest';
import { byKbuild, byKubeadm } from './authorities.ts';
import * as lab from './lab.ts';
import { ok, readable, timed } from './ok.ts';
import { nodes } from './pods.ts';
import type { Stacked } from './stacked.ts';

/** What of a cluster is used here: one that is not behind a balancer of the user's own has it as well. */
type Living = Pick<Stacked, 'name' | 'run' | 'up'>;

const controlPlanesOf = (hosts: readonly string[]): readonly string[] =>
  hosts.filter((host) => lab.roleOf(host) === 'control-plane');

/**
 * Expects kubeadm's `check-expiration` to agree with `kbuild certs` on every control plane, all nodes Ready and an empty plan. `machineOf`: the
 * lab's host that has the name of another one by now.
 */
export async function expectSettled(
  cluster: Omit<Living, 'name'>,
  hosts: readonly string[],
  machineOf: (host: string) => string = (host) => host,
): Promise<void> {
  // `up` waits, where needed, until what has restarted has run for a while; then `plan` has to say at once that there is nothing.
  ok(await readable(() => cluster.up()));
  ok(await readable(() => cluster.run('plan', '--detailed-exitcode')));
  const shown = ok(await readable(() => cluster.run('certs', '--json'))).stdout;
  const controlPlanes = controlPlanesOf(hosts);
  for (const host of controlPlanes) expect(byKbuild(shown, host), host).toEqual(await byKubeadm(machineOf(host)));
  expect(await nodes(controlPlanes[0]!)).toEqual(Object.fromEntries(hosts.map((host) => [host, true])));
}

/** Expects one `up` to have these further hosts, fresh ones, join, and everything to be settled then. */
export async function expectJoins(
  cluster: Living,
  hosts: readonly string[],
  more: readonly string[],
  other?: object,
): Promise<void> {
  await lab.up(more);
  await lab.reset(more);
  await cluster.name([...hosts, ...more], other);
  timed(`joined afterwards: ${more.join(', ')}`, await readable(() => cluster.up()));
  await expectSettled(cluster, [...hosts, ...more]);
}
