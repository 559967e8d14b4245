import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { reboot, rebootsOf } from '../../src/commands/reboot.phases.ts';
import { changesIn, plan, withoutAbsent } from '../../src/engine/plan.ts';
import { rebootForgotten } from '../../src/host/reboot.step.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  hostOf,
  inventoryOf,
  joinedControlPlane,
  joinedWorker,
  memberOf,
  nodeOf,
} from '../fakes/cluster.ts';
import { filesWith, fileWith } from '../fakes/files.ts';
import { fleet } from '../fakes/fleet.ts';

const controls = [cp1, cp2, cp3];
const workers = [1, 2, 3].map((n) => hostOf({ name: `w${String(n)}`, address: `203.0.113.3${String(n)}` }));
const hosts = [...controls, ...workers];
const inventory = inventoryOf({ hosts });
const NOTE = '/var/lib/kbuild/reboot';

/** Facts of a host with a note of a boot id. */
const noted = (bootId: string): Partial<LinuxFacts> => ({ files: filesWith({ [NOTE]: fileWith(`${bootId}\n`) }) });

/** A cluster whose hosts run with the boot id `now`. */
const seen = (facts: Readonly<Record<string, Partial<LinuxFacts>>>, node: Partial<NodeView> = {}) =>
  fleet({
    inventory,
    cluster: clusterOf({
      nodes: hosts.map(({ name, role }) =>
        nodeOf({ name, role: role === 'worker' ? 'worker' : 'control-plane', ...(name === 'w1' ? node : {}) }),
      ),
      members: [memberOf(1), memberOf(2), memberOf(3)],
      apiServers: new Map(controls.map(({ name }) => [name, 'ok'])),
    }),
    facts: Object.fromEntries(
      hosts.map(({ name }) => [name, { bootId: 'now', pendingReboot: 'none' as const, ...facts[name] }]),
    ),
  });

/** The disruptive changes and notes that a run plans, as `phase host step`. */
function planned(all: ReturnType<typeof seen>, which: 'all' | 'those that want it'): readonly string[] {
  const options = { drain: { timeoutMs: 1000 }, losesPods: false, atOnce: 2 } as const;
  const { changes, errors } = plan(reboot(inventory, rebootsOf(all, hosts, which), options, all), inventory, all);
  expect(errors).toEqual([]);
  return changesIn(changes).map(({ phase, host, step }) => `${phase} ${host} ${step}`);
}

const reboots = (changes: readonly string[]): readonly string[] =>
  changes.flatMap((change) => (change.endsWith(' rebooted') ? [change.split(' ')[1]!] : []));

describe('which hosts restart', () => {
  test('if no host wants a reboot, nothing is planned', () => {
    expect(planned(seen({}), 'those that want it')).toEqual([]);
  });

  test('a host that wants a reboot is noted, drained, rebooted, uncordoned and forgotten', () => {
    expect(planned(seen({ w2: { pendingReboot: ['linux-image'] } }), 'those that want it')).toEqual([
      'note w2 reboot-noted',
      'reboot-workers-1 w2 drained',
      'reboot-workers-1 w2 rebooted',
      'reboot-workers-1 w2 uncordoned',
      'reboot-workers-1 w2 workloads-back',
      'verify w2 coredns-spread',
      'forget w2 reboot-forgotten',
    ]);
  });

  test('with --all, workers restart before control planes', () => {
    expect(reboots(planned(seen({}), 'all'))).toEqual(['w1', 'w2', 'w3', 'cp1', 'cp2', 'cp3']);
  });

  test('a batch of several workers is cordoned as a whole', () => {
    expect(planned(seen({}), 'all').filter((change) => change.endsWith(' cordoned'))).toEqual([
      'cordon-2 w2 cordoned',
      'cordon-2 w3 cordoned',
    ]);
  });
});

test('a pause between batches comes before the cordon of a batch: cordon and reboot are one batch', () => {
  const all = seen({});
  const options = { drain: { timeoutMs: 1000 }, losesPods: false, atOnce: 2 } as const;
  const phases = reboot(inventory, rebootsOf(all, hosts, 'all'), options, all);
  const batches = phases.flatMap(({ name, batch }) => (batch === undefined ? [] : [[name, batch]]));
  expect(batches).toEqual([
    ['reboot-workers-1', 'workers-1'],
    ['cordon-2', 'workers-2'],
    ['reboot-workers-2', 'workers-2'],
  ]);
  const draining = plan(phases, inventory, all).changes.filter(({ change }) => change.drains === true);
  expect([...new Set(draining.map(({ step }) => step))].toSorted()).toEqual(['cordoned', 'drained']);
});

describe('after a run that was cut off', () => {
  test('a host that has restarted is uncordoned and not restarted again, also with --all', () => {
    const annotations = { 'kbuild.dev/cordoned': 'true', 'kbuild.dev/drained': 'true' };
    const all = seen({ w1: noted('before'), w2: noted('now') }, { unschedulable: true, annotations });
    const changes = planned(all, 'all');
    expect(reboots(changes)).toEqual(['w2']);
    expect(changes).toContain('reboot-workers-1 w1 uncordoned');
  });

  test('if the notes were being removed, --all restarts no host again', () => {
    expect(planned(seen({ w3: noted('before') }), 'all')).toEqual(['forget w3 reboot-forgotten']);
  });

  test('a host that was noted and has not restarted restarts', () => {
    expect(reboots(planned(seen({ cp2: noted('now') }), 'those that want it'))).toEqual(['cp2']);
  });
});

describe('while a control plane is absent', () => {
  const options = { drain: { timeoutMs: 1000 }, losesPods: false, atOnce: 2 } as const;
  const wants = { pendingReboot: ['linux-image'] };
  const all = seen({
    cp1: { ...joinedControlPlane(), ...wants },
    cp2: joinedControlPlane(),
    w1: { ...joinedWorker(), ...wants },
  });
  const absent = {
    ...all,
    hosts: all.hosts.filter(({ host }) => host.name !== 'cp3'),
    unreachable: [{ host: cp3, error: new Error('no answer'), isDead: true }],
  };
  const without = withoutAbsent(
    reboot(inventory, rebootsOf(absent, hosts, 'those that want it'), options, absent),
    inventory,
    absent,
  );

  test('no control plane is noted, drained, or let take pods again: all of it waits', () => {
    const { changes, errors } = plan(without.phases, inventory, absent);
    expect(errors).toEqual([]);
    expect(
      changesIn(changes)
        .filter(({ host, phase }) => host !== 'w1' && phase !== 'verify')
        .map(({ step }) => step),
    ).toEqual([]);
    expect(reboots(changesIn(changes).map(({ phase, host, step }) => `${phase} ${host} ${step}`))).toEqual(['w1']);
    expect(without.waiting.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([
        'note on cp1 that it is to restart',
        'drain cp1 (found Ready)',
        'reboot cp1 (wants a reboot: linux-image)',
      ]),
    );
  });
});

describe('the note of a restart', () => {
  const forgotten = (facts: Partial<LinuxFacts>) =>
    rebootForgotten({ hosts: [cp1], from: new Map([['cp1', 'boot-1']]) })
      .diff({ host: cp1, facts: { bootId: 'boot-1', files: filesWith({}), ...facts } } as never)
      .map(({ foreseen }) => (foreseen === true ? 'foreseen' : 'made'));

  test('is removed though the restart did not happen, and nothing is due then', () => {
    expect(forgotten(noted('boot-1'))).toEqual(['made']);
    expect(forgotten({})).toEqual(['foreseen']);
  });

  test('is removed after the restart', () => {
    expect(forgotten({ ...noted('boot-1'), bootId: 'boot-2' })).toEqual(['made']);
    expect(forgotten({ bootId: 'boot-2' })).toEqual([]);
  });
});
