import { eachLimit } from '../../each-limit.ts';
import type { Emit } from '../../engine/event.ts';
import { exitCodeOf } from '../../errors.ts';
import { clusterBeside } from '../../facts/cluster-beside.ts';
import type { Fleet, Observed } from '../../facts/fleet.ts';
import type { Host } from '../../model/inventory.ts';
import type { Observer } from './observer.ts';

/** How all hosts are observed once. */
export interface Round {
  readonly hosts: readonly Host[];
  /** Connects to a host, or rejects with the reason why it cannot be reached. */
  readonly reach: (host: Host) => Promise<unknown>;
  readonly observer: Observer;
  /** What was known of the hosts before. */
  readonly known: readonly Observed[];
  /** Hosts at once. */
  readonly concurrency: number;
  readonly isDead: (host: Host) => boolean;
  /** False where the operator knows already that the host is missing. */
  readonly isNews: (host: Host) => boolean;
  readonly emit: Emit;
  readonly nowMs: () => number;
}

/** Observes every host, many at once. A host that does not answer is in `unreachable`. @throws errors of kbuild itself */
async function observeHosts(round: Round): Promise<Omit<Fleet, 'cluster'>> {
  const { hosts, reach, observer, isDead, isNews, emit } = round;
  const observed: Observed[] = [];
  const unreachable: { host: Host; error: Error; isDead: boolean }[] = [];
  const results = await eachLimit(hosts, round.concurrency, async (host): Promise<Observed> => {
    await reach(host);
    return observer.host(host);
  });
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') {
      observed.push(result.value);
      return;
    }
    const error = result.reason as Error;
    if (exitCodeOf(error) === 1) throw error;
    const host = hosts[index]!;
    unreachable.push({ host, error, isDead: isDead(host) });
    if (isNews(host)) emit({ kind: 'unreachable', host: host.name, message: error.message });
  });
  return { hosts: observed, unreachable };
}

/** Observes every host and the cluster. @throws errors of kbuild itself, never because a host does not answer */
export async function observeFleet(round: Round): Promise<Fleet> {
  const { observer, known, emit, nowMs } = round;
  const startedMs = nowMs();
  const observing = observeHosts(round);
  const cluster = await clusterBeside(
    observer.cluster,
    known,
    observing.then(({ hosts }) => hosts),
  );
  const { hosts, unreachable } = await observing;
  emit({ kind: 'observed', hosts: hosts.length, durationMs: nowMs() - startedMs });
  return { hosts, unreachable, cluster };
}
