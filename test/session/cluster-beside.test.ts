import { expect, test } from 'vitest';
import type { Observed } from '../../src/cluster/fleet/fleet.ts';
import { FactError } from '../../src/errors.ts';
import { clusterBeside, observeFleet } from '../../src/session/observe.ts';
import { cp1, factsOf, fleetOf, freshHost, joinedHost, type joinedWorker, w1 } from '../fakes/cluster.ts';

/** Looks beside a look at the hosts that yields `seen`; returns of which facts the cluster was asked by, in order. */
async function asked(known: readonly Observed[], seen: readonly Observed[]): Promise<readonly string[]> {
  const order: string[] = [];
  const cluster = (hosts: readonly Observed[]) => {
    order.push(hosts === known ? 'known' : 'seen');
    return Promise.resolve({ state: 'absent' as const });
  };
  const hosts = Promise.resolve().then(() => {
    order.push('hosts');
    return seen;
  });
  await clusterBeside(cluster, known, hosts);
  return order;
}

const joined = (...worker: Parameters<typeof joinedWorker>) =>
  fleetOf(joinedHost(cp1), joinedHost(w1, ...worker)).hosts;
const bare = fleetOf(freshHost(cp1), freshHost(w1)).hosts;

test('the cluster is observed while its hosts are, by their facts from before', async () => {
  expect(await asked(joined(), joined({ hostname: 'another' }))).toEqual(['known', 'hosts']);
});

test('it is observed once more if a control plane has another kubeconfig by now, or had none before', async () => {
  expect(await asked(bare, joined())).toEqual(['known', 'hosts', 'seen']);
  expect(await asked([], joined())).toEqual(['known', 'hosts', 'seen']);
});

test('it is observed once more if another run held the lock of a control plane meanwhile', async () => {
  const at = (lockUsed: string) => fleetOf(joinedHost(cp1, { lockUsed })).hosts;
  expect(await asked(at('never'), at('1764299000.5'))).toEqual(['known', 'hosts', 'seen']);
  expect(await asked(at('1764299000.5'), at('1764299000.5'))).toEqual(['known', 'hosts']);
});

test('it is not asked before by what could not be told', async () => {
  const untold = fleetOf([
    cp1,
    Object.defineProperty(factsOf(), 'kubernetesTraces', {
      get: () => {
        throw new FactError('cp1', 'kubernetesTraces', 'a time-out');
      },
    }),
  ]).hosts;
  expect(await asked(untold, joined())).toEqual(['hosts', 'seen']);
});

test('its view is shown while a host is still observed', async () => {
  const order: string[] = [];
  const shown: { resolve?: () => void } = {};
  const isShown = new Promise<void>((resolve) => (shown.resolve = resolve));
  const fleet = await observeFleet({
    hosts: [cp1, w1],
    reach: () => Promise.resolve(),
    observer: {
      host: async (host, names) => {
        if (host.name === 'w1') await isShown;
        order.push(names === undefined ? host.name : `${host.name} (early)`);
        return joined().find((one) => one.host.name === host.name)!;
      },
      cluster: () => Promise.resolve({ state: 'absent' }),
    },
    known: 'nothing',
    concurrency: 2,
    isDead: () => false,
    isNews: () => true,
    onCluster: ({ view, hosts }) => {
      order.push(`shown ${view.state}, told by ${hosts.map(({ host }) => host.name).join(' ')}`);
      shown.resolve?.();
    },
    emit: () => undefined,
    nowMs: () => 0,
  });
  expect(order.slice(0, 2).sort()).toEqual(['cp1', 'cp1 (early)']);
  expect(order.slice(2)).toEqual(['shown absent, told by cp1', 'w1']);
  expect(fleet.hosts).toHaveLength(2);
});
