import { ailments, disruptionObstacles } from '../cluster/ailments.ts';
import { DeadlinePassed, Interrupted, NotConverged } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { until } from '../wait.ts';
import { type Convergence, type Place, teller } from './convergence.ts';

/** What a run knows of hosts that it has disrupted. */
export interface Disrupted {
  /** Names of hosts that were not healthy after their turn: the same change must not break the next hosts. */
  readonly broken: Set<string>;
}

/** Milliseconds between two observations of hosts and cluster. */
const POLL_MS = 1000;
/** How long the other hosts may take until a host may be disrupted, and that host until it is healthy again, in ms. */
const PATIENCE_MS = 5 * 60_000;
/** How long an API that is down is waited for, in ms: the pending change may be the one that repairs it. */
const DOWN_MS = 30_000;

const listed = (found: readonly string[]): string => found.join('; ');

/** The host and the cluster are observed again. */
function expireNow({ observations }: Convergence, host: string): void {
  observations.expire([host]);
  observations.expireCluster();
}

/**
 * Observes until nothing is found, or returns what was found last when that takes too long. Reports what it waits for.
 */
async function untilNone(
  run: Convergence,
  place: Place,
  what: string,
  find: () => Promise<{ readonly found: readonly string[]; readonly patienceMs: number }>,
): Promise<readonly string[]> {
  const { nowMs, sleep, signal, observations } = run;
  const startedMs = nowMs();
  const tell = teller(run, place);
  let isFirst = true;
  const observed = async () => {
    // What the step itself has just observed need not be observed again.
    if (isFirst) observations.expireOldOf([place.host]);
    else expireNow(run, place.host);
    isFirst = false;
    const { found, patienceMs } = await find();
    if (found.length === 0 || nowMs() - startedMs >= patienceMs) return found;
    tell(`${what}: ${listed(found)}`);
    // At the run's own deadline, what was waited for is what an operator wants to know.
    if (signal.reason instanceof DeadlinePassed) return found;
    if (signal.aborted) throw new Interrupted('interrupted while waiting');
    return undefined;
  };
  return (await until(observed, Infinity, { pause: sleep, nowMs, everyMs: POLL_MS, isGentle: true }))!;
}

/** What is wrong with a host. */
async function ailmentsOf({ inventory, observations }: Convergence, host: Host): Promise<readonly string[]> {
  return (await observations.evaluate((fleet) => ailments({ inventory, host, fleet }))).value;
}

/** @throws NotConverged for a host that must not get the change after which another host was not well */
export function refuseAfterBroken({ broken }: Disrupted, place: Place, host: Host): void {
  const first = [...broken].find((name) => name !== host.name);
  if (first === undefined) return;
  throw new NotConverged(host.name, place.step, [
    `${host.name} was left as it is, because ${first} is not well since the same change; mend ${first}, then run ` +
      'the same command again',
  ]);
}

/** Those of these hosts that are well now. */
export async function wellHosts(run: Convergence, hosts: readonly Host[]): Promise<readonly Host[]> {
  const { value } = await run.observations.evaluate((fleet) =>
    hosts.filter((host) => ailments({ inventory: run.inventory, host, fleet }).length === 0),
  );
  return value;
}

/**
 * Observes these hosts again until all of them are well, for 5 minutes at most. Returns the names of those that are
 * not.
 */
export async function unwellAfterPause(
  run: Convergence,
  place: Place,
  hosts: readonly Host[],
): Promise<readonly string[]> {
  let unwell: readonly string[] = [];
  await untilNone(run, place, 'wait until the batch before is well', async () => {
    run.observations.expireOldOf(hosts.map(({ name }) => name));
    const { value } = await run.observations.evaluate((fleet) =>
      hosts.map((host) => ({ name: host.name, found: ailments({ inventory: run.inventory, host, fleet }) })),
    );
    unwell = value.flatMap(({ name, found }) => (found.length === 0 ? [] : [name]));
    return {
      found: value.flatMap(({ name, found }) => found.map((ailment) => `${name}: ${ailment}`)),
      patienceMs: PATIENCE_MS,
    };
  });
  return unwell;
}

/**
 * Does disruptive work on a host when the cluster can do without that host, and waits afterwards until the host is
 * healthy. A host that was unhealthy before is not waited for.
 * @throws NotConverged when the other hosts stay unhealthy, when this host stays unhealthy, or when an earlier host did
 */
export async function inGoodHealth<R>(
  run: Convergence,
  turns: Disrupted,
  place: Place,
  host: Host,
  work: () => Promise<R>,
): Promise<R> {
  const { inventory, observations } = run;
  refuseAfterBroken(turns, place, host);
  const obstacles = await untilNone(run, place, `wait until ${host.name} may be disrupted`, async () => {
    const { value } = await observations.evaluate((fleet) => ({
      found: disruptionObstacles({ inventory, host, fleet }),
      isDown: fleet.cluster.state === 'down',
    }));
    if (!value.isDown) return { found: value.found, patienceMs: PATIENCE_MS };
    const isWorker = host.role === 'worker';
    return { found: isWorker ? [] : ['the API does not answer'], patienceMs: DOWN_MS };
  });
  if (obstacles.length > 0 && !obstacles.includes('the API does not answer'))
    throw new NotConverged(host.name, place.step, [`${host.name} cannot be disrupted: ${listed(obstacles)}`]);
  observations.expireOldOf([host.name]);
  if ((await ailmentsOf(run, host)).length > 0) return work();
  const result = await work().catch(async (error: unknown) => {
    expireNow(run, host.name);
    const left = await ailmentsOf(run, host).catch(() => ['it cannot be told']);
    if (left.length > 0) turns.broken.add(host.name);
    throw error;
  });
  const left = await untilNone(run, place, `wait until ${host.name} is well again`, async () => ({
    found: await ailmentsOf(run, host),
    patienceMs: PATIENCE_MS,
  }));
  if (left.length > 0) {
    turns.broken.add(host.name);
    throw new NotConverged(host.name, place.step, [`${host.name} is not well again: ${listed(left)}`]);
  }
  turns.broken.delete(host.name);
  return result;
}
