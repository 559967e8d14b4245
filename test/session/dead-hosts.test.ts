import { describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { ConnectError, Refused } from '../../src/errors.ts';
import { leftOutText } from '../../src/report/plan.ts';
import type { Run } from '../../src/session/run.ts';
import { checkDeadNames, commandWithDead, missingHosts, refuseLivingDead } from '../../src/session/selection.ts';
import { clusterOf, cp1, fleetIn, hostOf, inventoryOf, joinedHost, memberOf, nodeOf, w1 } from '../fakes/cluster.ts';

const cp2 = hostOf({ name: 'cp2', role: 'control-plane' });
const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const gone = (host: typeof cp1, isDead = false): Fleet['unreachable'][number] => ({
  host,
  error: new ConnectError(host.name, 'no answer', { retryable: true }),
  isDead,
});
const runOf = (unreachable: Fleet['unreachable'], flags: Run['flags'] = {}): Run =>
  ({
    command: 'up',
    flags,
    inventory,
    connected: { observations: { fleet: () => ({ ...fleetIn(clusterOf({}), joinedHost(cp1)), unreachable }) } },
  }) as unknown as Run;

describe('--dead', () => {
  test('refuses a name that the inventory does not have, with the nearest one, before any host is contacted', () => {
    const check = (dead: readonly string[], options: Parameters<typeof checkDeadNames>[2] = {}) => {
      checkDeadNames(inventory, { dead }, options);
    };
    expect(() => check(['cp2'])).not.toThrow();
    expect(() => check(['cp2', 'cpp2'])).toThrow('--dead cpp2: the inventory has no host of that name');
    expect(() => check(['cpp2'])).toThrow(
      expect.objectContaining({ exitCode: 2, remedy: 'did you mean "cp2"?' }) as Error,
    );
    expect(() => check([])).toThrow(expect.objectContaining({ exitCode: 2 }) as Error);
    // `remove` also takes nodes that the inventory no longer names.
    expect(() => check(['old'], { acceptsUnknownDead: true })).not.toThrow();
  });

  test('refuses a host that answers', async () => {
    await expect(refuseLivingDead(runOf([], { dead: ['cp1'] }))).rejects.toThrow(Refused);
    await expect(refuseLivingDead(runOf([gone(cp2)], { dead: ['cp2'] }))).resolves.toBeUndefined();
  });

  test('is in the command that the error proposes when a control plane does not answer', () => {
    const error = missingHosts(runOf([gone(cp2)], { inventory: 'my prod.yaml' }))!;
    expect(error.exitCode).toBe(3);
    expect(error.remedy).toContain("`kbuild up 'my prod.yaml' --dead cp2`");
    expect(missingHosts(runOf([gone(cp2, true)]))).toBeUndefined();
    expect(missingHosts(runOf([gone(w1)]))).toBeUndefined();
  });

  test('leaves --hosts in the proposed command: without it, reset would destroy the whole cluster', () => {
    expect(commandWithDead({ command: 'reset', flags: { hosts: ['w*'], dead: ['w2'] } }, ['w1'])).toBe(
      "kbuild reset --hosts 'w*' --dead w2,w1",
    );
    expect(commandWithDead({ command: 'remove', flags: { inventory: 'prod.yaml' } }, ['w1'], ['w1', 'w2'])).toBe(
      'kbuild remove -i prod.yaml w1 w2 --dead w1',
    );
  });
});

test('the report of hosts that were left out names them, the changes that wait for them, and the commands to run next', () => {
  const waiting = [
    { host: 'cp1', summary: 'restart containerd' },
    { host: 'cp3', summary: 'restart containerd' },
  ];
  expect(leftOutText([gone(cp2, true)], waiting)).toBe(
    [
      'left out: cp2 (does not answer)',
      'waiting for every control plane:',
      '  cp1, cp3: restart containerd',
      '  → when this is mended, run `kbuild up` again; if cp2 is gone for good: kbuild remove cp2 --dead cp2',
      '',
    ].join('\n'),
  );
  expect(leftOutText([gone(cp2, true)], waiting, 'certs recover')).toContain('run `kbuild certs recover` again');
  expect(leftOutText([], [])).toBe('');
});

describe('a host that --dead names and that SSH does not reach', () => {
  /** The end of `refuseLivingDead`, and how long it waited, in ms. `cluster`: by the time, in ms. */
  async function ended(cluster: (nowMs: number) => ClusterView, dead = 'w1') {
    let nowMs = 0;
    const fleet = () => ({ ...fleetIn(cluster(nowMs), joinedHost(cp1)), unreachable: [gone(w1, true)] });
    const run = {
      ...runOf([gone(w1, true)], { dead: [dead] }),
      context: {
        err: () => undefined,
        nowMs: () => nowMs,
        sleep: (ms: number) => {
          nowMs += ms;
          return Promise.resolve();
        },
      },
      signal: new AbortController().signal,
      connected: {
        observations: {
          fleet,
          expireCluster: () => undefined,
          evaluate: (question: (seen: Fleet) => unknown) => Promise.resolve({ value: question(fleet()) }),
        },
      },
    } as unknown as Run;
    const message = await refuseLivingDead(run).then(
      () => 'gone',
      (error: unknown) => (error instanceof Refused ? `${String(error.exitCode)} ${error.message}` : String(error)),
    );
    return { message, waitedMs: nowMs };
  }
  const withNode = (ready: boolean, name = 'w1') => clusterOf({ nodes: [nodeOf({ name, ready })] });

  test('is refused while its node stays Ready: its kubelet reports', async () => {
    const { message, waitedMs } = await ended(() => withNode(true));
    expect(message).toBe('7 w1: refused: --dead says that this host is gone, and node w1 is Ready');
    expect(waitedMs).toBeGreaterThanOrEqual(75_000);
  });

  test('is gone when its node is not Ready any more, as a while after a power cut', async () => {
    const { message, waitedMs } = await ended((nowMs) => withNode(nowMs < 40_000));
    expect(message).toBe('gone');
    expect(waitedMs).toBeLessThan(50_000);
    expect(await ended(() => withNode(false))).toEqual({ message: 'gone', waitedMs: 0 });
  });

  test('is refused at once if its etcd member is healthy, whether the inventory names it or not', async () => {
    const cluster = clusterOf({ nodes: [nodeOf({ name: 'cp9', ready: false })], members: [memberOf(9)] });
    const { message, waitedMs } = await ended(() => cluster, 'cp9');
    expect(message).toBe('7 cp9: refused: --dead says that this host is gone, and the etcd member of cp9 is healthy');
    expect(waitedMs).toBe(0);
  });

  test('is not judged by a cluster that does not answer', async () => {
    expect(await ended(() => ({ state: 'down', reason: 'no answer' }))).toEqual({ message: 'gone', waitedMs: 0 });
  });
});
