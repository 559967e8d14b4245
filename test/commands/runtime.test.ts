import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linuxFacts } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp, NodeView } from '../../src/cluster/fleet/view.ts';
import { preparePhases, runtimePhases } from '../fakes/parts-of-up.ts';
import { up } from '../../src/commands/up.phases.ts';
import { changesIn, isWait, plan } from '../../src/engine/plan.ts';
import type { Step } from '../../src/engine/step.ts';
import { CommandError } from '../../src/errors.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { runtimeChange } from '../../src/runtime/version.step.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  inventoryOf,
  joinedWithContainerd,
  memberOf,
  nodesOf,
  podOf,
  targetOf,
  w1,
  w2,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const hosts = [cp1, cp2, cp3, w1, w2];

/** The inventory whose runtime has a version, from the file or by default. */
const wanting = (version: string, versionFrom: Inventory['runtime']['versionFrom'] = 'inventory'): Inventory => {
  const plain = inventoryOf({ hosts });
  return { ...plain, runtime: { ...plain.runtime, version, versionFrom } };
};

interface Seen {
  /** Version of containerd's package by host; all others run `usual`. */
  readonly usual?: string;
  readonly runs?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly cordoned?: readonly string[];
  /** Hosts that have not joined. */
  readonly fresh?: readonly string[];
}

const apiServer = (node: string, version: string) =>
  podOf({
    name: `kube-apiserver-${node}`,
    node,
    labels: { component: 'kube-apiserver', tier: 'control-plane' },
    images: [`registry.k8s.io/kube-apiserver:v${version}`],
  });

function seenBy(
  inventory: Inventory,
  { usual = '2.2.9', runs = {}, annotations = {}, cordoned = [], fresh = [] }: Seen,
) {
  const joined = hosts.filter(({ name }) => !fresh.includes(name));
  const cluster: ClusterUp = clusterOf({
    nodes: nodesOf(...joined).map((node): NodeView => ({
      ...node,
      annotations: annotations[node.name] ?? {},
      unschedulable: cordoned.includes(node.name),
    })),
    members: [memberOf(1), memberOf(2), memberOf(3)],
    apiServers: new Map([cp1, cp2, cp3].map(({ name }) => [name, 'ok'])),
  });
  const factsOf = ({ name, role }: LinuxHost): Partial<LinuxFacts> => ({
    ...joinedWithContainerd(role, `${runs[name] ?? usual}-1~debian.12~bookworm`),
  });
  return fleet({
    inventory,
    cluster,
    facts: Object.fromEntries(joined.map((host) => [host.name, factsOf(host)])),
  });
}

/** Changes of the phase for the runtime's version, as `host step`. */
function rolled(inventory: Inventory, seen: Seen) {
  const { changes, errors } = plan(runtimePhases(inventory), inventory, seenBy(inventory, seen));
  expect(errors).toEqual([]);
  return changesIn(changes);
}

/** The hosts of the tests have neither repositories nor containerd's files yet. */
const ofVersion = ({ step }: { readonly step: string }): boolean =>
  !/repository|registr|containerd-(?:config|service|proxy)/.test(step);

const stepsOn = (changes: ReturnType<typeof rolled>, host: string): readonly string[] =>
  changes.filter((change) => change.host === host && ofVersion(change)).map(({ step }) => step);

/** The way back of a node that was drained. */
const BACK = ['uncordoned', 'workloads-back', 'runtime-change-done'];

describe('runtime.version edited to another minor', () => {
  const changes = rolled(wanting('2.2.9'), { usual: '1.7.28' });

  test('drains each node, changes the runtime, and lets the node take pods again', () => {
    for (const { name } of hosts)
      expect(stepsOn(changes, name)).toEqual(['runtime-change-noted', 'drained', 'containerd-package', ...BACK]);
  });

  test('changes workers before control planes, and one host at a time', () => {
    expect([...new Set(changes.map(({ host }) => host))]).toEqual(['w1', 'w2', 'cp1', 'cp2', 'cp3']);
    expect(runtimePhases(wanting('2.2.9'))[0]!.concurrency).toBe(1);
  });

  test('says what runs and what will', () =>
    expect(changes.filter((one) => one.host === 'w1' && ofVersion(one)).map(({ summary }) => summary)).toEqual([
      'note that containerd of w1 changes from 1.7.28 to 2.2.9',
      'drain w1 (found Ready)',
      'install containerd.io 2.2.9 (found 1.7.28-1~debian.12~bookworm)',
      'let w1 take pods again',
      'wait until workloads that left w1 have as many ready pods as before',
      'remove the note kbuild.dev/runtime-change of w1',
    ]));

  test('restarts containerd on one worker at a time, and not on a tenth of them', () => {
    const restarts = changes
      .filter(({ step }) => step === 'containerd-package')
      .flatMap(({ change }) => change.restarts);
    expect(restarts.map((restart) => restart?.atOnce)).toEqual([1, 1, 1, 1, 1]);
  });

  test('to an older minor drains too', () =>
    expect(stepsOn(rolled(wanting('2.1.5'), { usual: '2.2.9' }), 'w1')).toContain('drained'));

  test('names in the plan that CoreDNS may be spread after the drains', () => {
    const inventory = wanting('2.2.9');
    const { changes: all } = plan(up(inventory), inventory, seenBy(inventory, { usual: '1.7.28' }));
    expect(all.some(({ step, summary }) => step === 'coredns-spread' && summary.includes('if the drains leave'))).toBe(
      true,
    );
  });
});

describe('runtime.version edited to another patch', () => {
  test('changes the package in place, without a drain', () =>
    expect(stepsOn(rolled(wanting('2.2.10'), {}), 'w1')).toEqual(['containerd-package']));

  test('changes only the hosts that have another one', () => {
    const changes = rolled(wanting('2.2.10'), { usual: '2.2.10', runs: { w2: '2.2.9' } });
    expect(new Set(changes.map(({ host }) => host))).toEqual(new Set(['w2']));
  });
});

describe('a change that was cut off goes on', () => {
  const drained = { 'kbuild.dev/drained': 'true' };
  const cordoned = { 'kbuild.dev/cordoned': 'true' };
  const changing = { 'kbuild.dev/runtime-change': 'x' };
  const ours = { ...drained, ...cordoned, ...changing, 'kbuild.dev/workloads': 'none' };

  test('after the note: the drain comes', () =>
    expect(stepsOn(rolled(wanting('2.2.9'), { runs: { w1: '1.7.28' }, annotations: { w1: changing } }), 'w1')).toEqual([
      'drained',
      'containerd-package',
      ...BACK,
    ]));

  test('after the drain: the node is drained no second time', () =>
    expect(
      stepsOn(rolled(wanting('2.2.9'), { runs: { w1: '1.7.28' }, annotations: { w1: ours }, cordoned: ['w1'] }), 'w1'),
    ).toEqual(['containerd-package', ...BACK]));

  test('after the package: the node takes pods again', () =>
    expect(stepsOn(rolled(wanting('2.2.9'), { annotations: { w1: ours }, cordoned: ['w1'] }), 'w1')).toEqual(BACK));

  test('an operator’s cordon stays', () => {
    const changes = rolled(wanting('2.2.9'), { annotations: { w1: { ...drained, ...changing } }, cordoned: ['w1'] });
    expect(changes.filter(ofVersion).map(({ summary }) => summary)).toEqual([
      'leave w1 cordoned, as an operator wants it',
      'remove the note kbuild.dev/runtime-change of w1',
    ]);
  });

  test('also after the inventory no longer pins a version: the runtime stays, the node takes pods again', () =>
    expect(
      stepsOn(rolled(wanting('2.3.7', 'default'), { annotations: { w1: ours }, cordoned: ['w1'] }), 'w1'),
    ).toContain('uncordoned'));

  test('a node that an upgrade or a removal has drained stays drained', () => {
    expect(rolled(wanting('2.2.9'), { annotations: { w1: { ...drained, ...cordoned } }, cordoned: ['w1'] })).toEqual(
      [],
    );
  });

  test('no further node is drained while one that kbuild drained does not take pods', () => {
    const inventory = wanting('2.2.9');
    const seen = { usual: '1.7.28', annotations: { w1: ours }, cordoned: ['w1'] };
    const { changes } = plan(runtimePhases(inventory), inventory, seenBy(inventory, seen));
    const waits = changes.filter(({ step }) => step === 'others-are-back').map(({ host }) => host);
    expect(waits).toEqual(['w2', 'cp1', 'cp2', 'cp3']);
  });
});

describe('while a change is made', () => {
  const packageOn = (host: string) =>
    rolled(wanting('2.2.10'), {}).find((change) => change.host === host && change.step === 'containerd-package')!
      .change;

  test('a control plane is left as it is unless etcd shows that every member is healthy', async () => {
    const { on, sent } = recordingOn();
    await expect(packageOn('cp1').apply!(on)).rejects.toThrow();
    expect(sent.filter(({ kind }) => kind === 'job')).toEqual([]);
  });

  test('a worker is not kept by etcd, and runs the new program afterwards', async () => {
    const { on, sent } = recordingOn();
    await packageOn('w1').apply!(on);
    expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['w1 job', 'w1 run']);
    expect(sent.at(-1)).toMatchObject({ script: expect.stringContaining('systemctl restart') as string });
  });

  test('a node gets the note before it is drained, and loses it when all is as before', async () => {
    const { on, sent } = recordingOn();
    const made = async (name: string, seen: Seen): Promise<void> => {
      const changes = rolled(wanting('2.2.9'), seen).filter(({ host }) => host === 'w1');
      await changes.find(({ step }) => step === name)!.change.apply!(on);
    };
    await made('runtime-change-noted', { usual: '1.7.28' });
    await made('runtime-change-done', { annotations: { w1: { 'kbuild.dev/runtime-change': '1.7.28 to 2.2.9' } } });
    const scripts = sent.map((one) => ('script' in one ? one.script : ''));
    expect(scripts[0]).toContain('"kbuild.dev/runtime-change":"1.7.28 to 2.2.9"');
    expect(scripts.at(-1)).toContain('"kbuild.dev/runtime-change":null');
  });

  test('a drain that fails names what the operator can do, and ends with exit 5', async () => {
    const { on } = recordingOn({
      job: () => {
        throw new CommandError('w1', 'drain w1', { status: 1, stdout: '', stderr: 'kept by PodDisruptionBudget web' });
      },
    });
    const drain = rolled(wanting('2.2.9'), { usual: '1.7.28' }).find(({ step }) => step === 'drained')!;
    await expect(drain.change.apply!(on)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('kept by PodDisruptionBudget web') as string,
    });
  });
});

test('in the middle of an upgrade no runtime changes', () => {
  const inventory = wanting('2.2.9');
  const seen = seenBy(inventory, { usual: '1.7.28' });
  const cluster = {
    ...seen.cluster,
    version: '1.37.1',
    pods: [apiServer('cp1', '1.36.3'), apiServer('cp2', '1.37.1')],
  };
  const { changes } = plan(runtimePhases(inventory), inventory, { ...seen, cluster });
  expect(changes).toEqual([]);
});

test('while the API does not answer, no runtime changes that a drained node needs', () => {
  const inventory = wanting('2.2.9');
  const seen = seenBy(inventory, { usual: '1.7.28' });
  const down = { ...seen, cluster: { state: 'down', reason: 'connection refused' } } as typeof seen;
  const { changes } = plan(runtimePhases(inventory), inventory, down);
  expect(changesIn(changes)).toEqual([]);
  expect(changes[0]?.summary).toMatch(/^wait for the API server to answer/);
});

describe('an observation that a busy API leaves unanswered while a runtime changes', () => {
  const inventory = wanting('2.2.9');
  const last = ['node-ready', 'runtime-reported', 'uncordoned', 'workloads-back', 'runtime-change-done'];
  const notes = { 'kbuild.dev/runtime-change': '1 to 2', 'kbuild.dev/drained': 'true', 'kbuild.dev/workloads': '[]' };

  /** What the steps after the change do on w1: `waits`, `changes`, or nothing. */
  const outcomes = (seen: ReturnType<typeof seenBy>): readonly string[] =>
    runtimePhases(inventory)[0]!
      .steps.filter(({ name }) => last.includes(name))
      .flatMap((step) => {
        const changes = (step as Step).diff(targetOf(inventory, w1, seen));
        return changes.length === 0 ? [] : [`${step.name} ${changes.every(isWait) ? 'waits' : 'changes'}`];
      });
  const down = (seen: ReturnType<typeof seenBy>) =>
    ({ ...seen, cluster: { state: 'down', reason: 'timeout' } }) as typeof seen;

  test('neither leaves the node cordoned nor lets it take pods before it is well', () => {
    const seen = seenBy(inventory, { annotations: { w1: notes }, cordoned: ['w1'] });
    expect(outcomes(seen)).toEqual(['uncordoned changes', 'workloads-back changes', 'runtime-change-done changes']);
    expect(outcomes(down(seen)).toSorted()).toEqual(last.map((name) => `${name} waits`).toSorted());
  });

  test('makes no step of a host wait that has not joined', () => {
    expect(outcomes(down(seenBy(inventory, { fresh: ['w1'] })))).toEqual([]);
  });
});

describe('without a pinned version', () => {
  const inventory = wanting('2.3.7', 'default');
  const packagesOf = (seen: Seen) =>
    plan(preparePhases(inventory), inventory, seenBy(inventory, seen)).changes.filter(
      ({ step }) => step === 'containerd-package',
    );

  test('a joined host keeps the runtime that it runs', () => {
    expect(rolled(inventory, { usual: '1.7.28' })).toEqual([]);
    expect(packagesOf({ usual: '1.7.28' })).toEqual([]);
  });

  test('a new host gets the default', () =>
    expect(packagesOf({ fresh: ['w2'] }).map(({ host, summary }) => `${host}: ${summary}`)).toEqual([
      'w2: install containerd.io 2.3.7 (found none)',
    ]));

  test('a joined host with 1.x keeps a configuration that 1.x reads, and its settings are changed as before', () => {
    const seen = seenBy(inventory, { usual: '1.7.28' });
    const { changes } = plan(preparePhases(inventory), inventory, seen);
    expect(changes.some(({ host, step }) => host === 'w1' && step === 'containerd-config')).toBe(true);
    expect(changes.some(({ host, step }) => host === 'w1' && step === 'containerd-config-first')).toBe(false);
  });
});

test('the phase that installs the runtime never changes the version on a joined host', () => {
  const inventory = wanting('2.2.10');
  const { changes } = plan(preparePhases(inventory), inventory, seenBy(inventory, {}));
  expect(changes.filter(({ step }) => step === 'containerd-package')).toEqual([]);
});

test('whatever the versions are: a host is drained if and only if the minor differs, and never when nothing changes', () => {
  const versions = fc
    .tuple(fc.constantFrom('1.7', '2.0', '2.1', '2.2', '2.3'), fc.integer({ min: 0, max: 30 }))
    .map(([minor, patch]) => ({ minor, version: `${minor}.${String(patch)}` }));
  fc.assert(
    fc.property(versions, versions, fc.constantFrom('inventory', 'default'), (found, wanted, versionFrom) => {
      const inventory = wanting(wanted.version, versionFrom);
      const seen = seenBy(inventory, { usual: found.version });
      const change = runtimeChange({ inventory, host: w1, fleet: seen, facts: linuxFacts(seen, w1)! });
      const expected =
        versionFrom === 'default' || found.version === wanted.version
          ? undefined
          : { from: found.version, to: wanted.version, way: found.minor === wanted.minor ? 'in place' : 'drained' };
      expect(change).toEqual(expected);
    }),
  );
});
