import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { handlerLabel, type RuntimeHandler } from '../../src/inventory/runtime-handlers.ts';
import type { HandlerPod } from '../../src/runtime/handlers.facts.ts';
import { handlersInUse } from '../../src/runtime/handlers.refusal.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodesOf, w1, w2 } from '../fakes/cluster.ts';

const crun: RuntimeHandler = { name: 'crun', kind: 'crun', path: '/usr/bin/crun', from: 'host', overhead: {} };
const base = inventoryOf();
const having = (host: LinuxHost, ...handlers: readonly RuntimeHandler[]): LinuxHost => ({
  ...host,
  runtime: { ...base.runtime, handlers },
});
/** The inventory in which these workers have the handler. */
const giving = (...names: readonly string[]) =>
  inventoryOf({ hosts: [cp1, ...[w1, w2].map((host) => (names.includes(host.name) ? having(host, crun) : host))] });

const pod = (node: string, name: string, handler = 'crun'): HandlerPod => ({
  namespace: 'default',
  name,
  node,
  handler,
});
/** The live cluster, in which both workers have the handler. */
const cluster = (handlerPods: readonly HandlerPod[], over: Partial<ClusterUp> = {}): ClusterUp =>
  clusterOf({
    nodes: nodesOf(cp1, w1, w2).map((node) =>
      node.role === 'worker' ? { ...node, labels: { [handlerLabel('crun')]: 'yes' } } : node,
    ),
    handlerPods,
    ...over,
  });
const fleet = (view: ClusterView, facts: Partial<LinuxFacts> = {}) =>
  fleetIn(view, joinedHost(cp1), joinedHost(w1, facts), joinedHost(w2, facts));
const refused = (...args: Parameters<typeof handlersInUse>) => handlersInUse(...args).map(({ message }) => message);

describe('a handler that the inventory takes away from a node', () => {
  const seen = fleet(cluster([pod('w1', 'b'), pod('w1', 'a'), pod('w2', 'c')]));

  test('is refused while pods run by it there, and they are named', () => {
    expect(refused(giving('w2'), seen)).toEqual([
      'w1: refused: the inventory no longer gives it the handler crun (runtime.handlers), and pods that run by it there could not start again: default/a, default/b',
    ]);
    expect(handlersInUse(giving('w2'), seen)[0]).toMatchObject({
      exitCode: 7,
      remedy: expect.stringContaining('kubectl cordon w1') as string,
    });
  });

  test('is refused by `up`', () =>
    expect(refusals(giving('w2'), seen).map((one) => one.message)).toEqual(refused(giving('w2'), seen)));

  test('goes where no pod runs by it: those of other nodes and of other handlers do not count', () => {
    expect(refused(giving('w2'), fleet(cluster([pod('w2', 'c'), pod('w1', 'd', 'kata')])))).toEqual([]);
    expect(refused(giving('w1', 'w2'), seen)).toEqual([]);
  });

  test('is not refused where --hosts leaves its node out, unless its RuntimeClass would go', () => {
    expect(refused(giving('w2'), seen, ['w2'])).toEqual([]);
    expect(refused(giving(), seen, ['w2'])).toHaveLength(2);
  });

  test('counts on a node that the inventory does not name when the last host loses it', () => {
    const unnamed = inventoryOf({ hosts: [cp1, w1] });
    const only = fleetIn(cluster([pod('w2', 'c')]), joinedHost(cp1), joinedHost(w1));
    expect(refused(unnamed, only)).toEqual([expect.stringContaining('w2: refused: ')]);
    expect(refused({ ...unnamed, hosts: [cp1, having(w1, crun)] }, only)).toEqual([]);
  });

  test('names five pods and the number of the others', () => {
    const many = Array.from({ length: 7 }, (_, i) => pod('w1', `p${String(i)}`));
    expect(refused(giving('w2'), fleet(cluster(many)))[0]).toContain('default/p4 and 2 more');
  });

  test('is not taken away where the pods are unknown', () => {
    const view = Object.defineProperty(cluster([]), 'handlerPods', {
      get: () => {
        throw new Error('unknown');
      },
    });
    expect(() => refused(giving('w2'), fleet(view))).toThrow('unknown');
    expect(refused(giving('w1', 'w2'), fleet(view))).toEqual([]);
  });
});

describe('while the API does not answer', () => {
  const down = { state: 'down', reason: 'cp1: connection refused' } as const;
  const config = { cgroupDriver: 'systemd', sandboxImage: 'pause', criDisabled: false } as const;
  /** What is refused where the runtimes of both workers have these handlers. */
  const refusedWith = (handlers: readonly string[], inventory: ReturnType<typeof inventoryOf>, hosts?: string[]) => {
    const seen = linuxHosts(inventory).map((host) => joinedHost(host, { runtimeConfig: { ...config, handlers } }));
    return refused(inventory, fleetIn(down, ...seen.slice(1)), hosts);
  };

  test('a handler that the runtime has is not taken away', () => {
    expect(refusedWith(['crun', 'runc'], giving('w2'))).toEqual([
      'w1: refused: its runtime has the handler crun, the inventory does not, and kbuild cannot observe which pods run by it: cp1: connection refused',
    ]);
    expect(refusedWith(['crun', 'runc'], giving('w2'), ['w2'])).toEqual([]);
  });

  test('the runtime as the inventory has it is accepted, and one of the user’s own settings too', () => {
    expect(refusedWith(['crun', 'runc'], giving('w1', 'w2'))).toEqual([]);
    expect(refusedWith(['runc'], giving())).toEqual([]);
    const own = { plugins: { 'io.containerd.cri.v1.runtime': { containerd: { runtimes: { crun: {} } } } } };
    const runtime = { ...base.runtime, config: own };
    expect(refusedWith(['crun', 'runc'], inventoryOf({ runtime, hosts: [cp1, w1, w2] }))).toEqual([]);
  });
});
