import { describe, expect, test } from 'vitest';
import { type BalancedServer, balancer as probe, type BalancerState } from '../../src/balancer/balancer.facts.ts';
import { allInTurn, backInBalancers, outOfBalancers } from '../../src/balancer/servers.step.ts';
import type { Step } from '../../src/engine/step.ts';
import { inventory as inventoryWith, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const controls = ['cp1', 'cp2', 'cp3'].map((name, n) =>
  linuxHost(name, { address: `10.0.0.1${String(n + 1)}`, role: 'control-plane' }),
);
const loadBalancer = {
  kind: 'keepalived',
  address: '10.0.0.100',
  port: 8443,
  healthPort: 8404,
  routerId: 100,
} as const;
const onControlPlanes = inventoryWith({ loadBalancer, hosts: controls, endpoint: '10.0.0.100:8443' });

const ready: BalancedServer = { isUp: true, turn: 'ready' };
const drained: BalancedServer = { isUp: true, turn: 'drained' };
const down: BalancedServer = { isUp: false, turn: 'ready' };
const led = (over: Readonly<Record<string, BalancedServer>> = {}): BalancerState =>
  new Map(Object.entries({ cp1: ready, cp2: ready, cp3: ready, ...over }));

/** cp1 of three control planes that are load balancers too; `found`: what the haproxy of each leads to. */
const seen = (found: Readonly<Record<string, BalancerState>>, inventory = onControlPlanes) => {
  const facts = Object.fromEntries(inventory.hosts.map(({ name }) => [name, { balancer: found[name] ?? led() }]));
  return target(facts['cp1'], { inventory, host: 'cp1', facts });
};
const due = (step: Step, at: ReturnType<typeof target>): readonly string[] =>
  step.diff(at).map(({ summary }) => summary);
const out = outOfBalancers(() => true);
const [back, willBeBack] = [backInBalancers(() => false), backInBalancers(() => true)];

describe('what haproxy prints', () => {
  test('names each API server, whether it is up and whether it has its turn', () => {
    expect(probe.parse('cp1 2 8\ncp2 0 0\ncp3 2 1\n', { middleMs: 0 })).toEqual(
      new Map([
        ['cp1', drained],
        ['cp2', down],
        ['cp3', { isUp: true, turn: 'other' }],
      ]),
    );
    expect(probe.parse('uncontrolled\n', { middleMs: 0 })).toBe('uncontrolled');
  });
  test('is no state where it cannot be read', () => {
    expect(() => probe.parse('Permission denied\n', { middleMs: 0 })).toThrow('cannot be read: Permission denied');
  });
});

describe('a control plane whose API server is about to restart', () => {
  test('leaves every load balancer that leads to it, and each is told on its own host', async () => {
    const at = seen({ cp3: led({ cp1: drained }) });
    expect(due(out, at)).toEqual(['take cp1 out of the load balancers (cp1, cp2)']);
    const { on, sent } = recordingOn();
    await out.diff(at)[0]!.apply!(on);
    expect(sent.map(({ host }) => host)).toEqual(['cp1', 'cp2']);
    for (const one of sent) expect('script' in one && one.script).toMatch(/NAME='?cp1'?\nSTATE='?drain'?/);
  });
  test('has nothing pending once it is out of all, whatever its own health', () => {
    const gone = led({ cp1: { isUp: false, turn: 'drained' } });
    expect(due(out, seen({ cp1: gone, cp2: gone, cp3: gone }))).toEqual([]);
  });
  test('waits where a load balancer has no other API server that is ready', () => {
    expect(due(out, seen({ cp2: led({ cp2: down, cp3: drained }) }))).toEqual([
      'wait until haproxy of cp2 has another API server that is ready (found cp2 down, cp3 drained)',
    ]);
  });
  test('waits for a haproxy that runs and does not answer', () => {
    expect(due(out, seen({ cp2: 'silent' }))).toEqual([
      'wait until haproxy of cp2 answers at /run/kbuild-haproxy.sock',
    ]);
  });
  test('asks for `kbuild up` where haproxy has the configuration of an older kbuild', () => {
    expect(() => due(out, seen({ cp2: 'uncontrolled' }))).toThrow(
      /configuration of an older kbuild, or socat is missing/,
    );
  });
  test('does not care for a load balancer whose haproxy does not run', () => {
    expect(due(out, seen({ cp2: 'none' }))).toEqual(['take cp1 out of the load balancers (cp1, cp3)']);
  });
  test('stays if it is the only one, and where the load balancer is not of kbuild', () => {
    expect(due(out, seen({}, { ...onControlPlanes, hosts: [controls[0]!] }))).toEqual([]);
    expect(due(out, seen({}, { ...onControlPlanes, loadBalancer: { kind: 'external' } }))).toEqual([]);
  });
});

describe('a control plane that an upgrade has taken out', () => {
  test('comes back in every load balancer without it, whichever run took it out', async () => {
    const at = seen({ cp1: led({ cp1: drained }), cp3: led({ cp1: drained }) });
    expect(due(back, at)).toEqual(['put cp1 back into the load balancers (cp1, cp3)']);
    const { on, sent } = recordingOn();
    await back.diff(at)[0]!.apply!(on);
    expect(sent.map(({ host }) => host)).toEqual(['cp1', 'cp3']);
    for (const one of sent) expect('script' in one && one.script).toMatch(/STATE='?ready'?/);
  });
  test('comes back in the plan of the run that is to take it out', () => {
    expect(due(willBeBack, seen({}))).toEqual(['put cp1 back into the load balancers (cp1, cp2, cp3)']);
    expect(due(back, seen({}))).toEqual([]);
  });
  test('is back after `up` on each load balancer, and an operator’s maintenance stays', () => {
    const maintained: BalancedServer = { isUp: false, turn: 'other' };
    expect(due(allInTurn, seen({ cp1: led({ cp2: drained, cp3: maintained }) }))).toEqual([
      'let haproxy send connections to cp2 again (found drained)',
    ]);
    for (const state of ['none', 'silent', 'uncontrolled'] as const)
      expect(due(allInTurn, seen({ cp1: state }))).toEqual([]);
  });
});
