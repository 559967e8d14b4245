import { describe, expect, test } from 'vitest';
import { selftestText } from '../../src/commands/windows-selftest.ts';
import type { PodSeen } from '../../src/network/pods.survey.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { type Bench, defaultOutside, outsideOf } from '../../src/windows/selftest/bench.ts';
import { flows } from '../../src/windows/selftest/flows.ts';
import { CONTENT, selftestObjects } from '../../src/windows/selftest/objects.ts';
import { type Row, selftestPlan } from '../../src/windows/selftest/plan.ts';
import { selftest } from '../../src/windows/selftest/selftest.ts';
import { clusterOf, inventoryOf, nodeOf } from '../fakes/cluster.ts';
import { linuxHost } from '../fakes/inventory.ts';
import { DOCUMENTED_FLOWS } from './documented-flows.ts';

const linux = (name: string, taints: Parameters<typeof nodeOf>[0]['taints'] = []) =>
  nodeOf({ name, taints, labels: { 'kubernetes.io/os': 'linux' }, internalAddress: `addr-${name}` });
const windows = (name: string, build = '10.0.20348') =>
  nodeOf({
    name,
    labels: { 'kubernetes.io/os': 'windows', 'node.kubernetes.io/windows-build': build },
    taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }],
    internalAddress: `addr-${name}`,
  });
const controlPlane = linux('cp1', [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]);
const cluster = clusterOf({
  nodes: [controlPlane, linux('w1'), linux('w2'), windows('win1'), windows('win2'), windows('win3', '10.0.26100')],
});

interface Pod {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeSelector?: Readonly<Record<string, string>>; readonly runtimeClassName?: string };
}

/** A bench on which every flow passes. `over` breaks parts of it. */
function world(over: Partial<Bench> = {}): Bench & { readonly calls: string[] } {
  let pods: readonly PodSeen[] = [];
  const calls: string[] = [];
  const answering = (from: string, host: string): string => {
    const [, named] = /^(.*)\.[a-z0-9-]+-pods\.test\.svc\.cluster\.local$/.exec(host) ?? [];
    if (named !== undefined) return named;
    const [, service] = /^service-(.*)$/.exec(host) ?? /^(.*)\.test\.svc\.cluster\.local$/.exec(host) ?? [];
    if (service !== undefined) return `${service}-main`;
    if (pods.some(({ name }) => name === `${host}-main`)) return `${host}-main`;
    const onNode = (pod: PodSeen): boolean => pod.name.endsWith('-main') && host === `addr-${pod.node}`;
    return host === 'localhost' ? from : pods.find((pod) => pod.ip === host || onNode(pod))!.name;
  };
  return {
    calls,
    namespace: 'test',
    begin: () => Promise.resolve(void calls.push('begin')),
    end: () => Promise.resolve(void calls.push('end')),
    apply: (objects: readonly JsonObject[]) => {
      pods = (objects as unknown as Pod[])
        .filter(({ kind }) => kind === 'Pod')
        .map(({ metadata: { name }, spec }) => ({
          name,
          node: spec.nodeSelector?.['kubernetes.io/hostname'] ?? (spec.runtimeClassName === undefined ? 'w2' : 'win1'),
          ip: `ip-${name}`,
          ready: true,
          reason: '',
        }));
      return Promise.resolve();
    },
    pods: () => Promise.resolve(pods),
    service: (name) => Promise.resolve({ address: `service-${name}`, nodePort: 30000 }),
    dial: (from, host) => Promise.resolve(answering(from, host)),
    hostname: (pod) => Promise.resolve(pod),
    logs: () => Promise.resolve('started'),
    exec: (_, command) =>
      Promise.resolve(
        command.some((word) => word.includes('config'))
          ? CONTENT.config
          : command.some((word) => word.includes('secret'))
            ? CONTENT.secret
            : 'ContainerUser\r\n',
      ),
    resolve: () => Promise.resolve(['203.0.113.7']),
    portForward: (pod) => Promise.resolve(pod),
    fromOutside: (address) => Promise.resolve(answering('', address)),
    ...over,
  };
}
async function ran(bench: Bench, os: 'windows' | 'linux' = 'windows', nodeLimit?: string): Promise<readonly Row[]> {
  let now = 0;
  return selftest(bench, selftestPlan(cluster, os, []), cluster.nodes, {
    image: 'agnhost',
    ...{ dnsDomain: 'cluster.local', nodeLimit },
    outside: { byAddress: { target: '203.0.113.7:443' }, byName: { target: 'registry.example:443' } },
    startMs: 3000,
    flowMs: 2000,
    nowMs: () => now,
    sleep: (ms) => Promise.resolve(void (now += ms)),
    say: () => undefined,
    signal: new AbortController().signal,
  });
}

const of = (rows: readonly Row[], result: Row['result']): readonly Row[] => rows.filter((row) => row.result === result);

describe('selftest plan', () => {
  test('groups Windows nodes by build, and takes helpers only from Linux nodes that accept pods', () => {
    const plan = selftestPlan(cluster, 'windows', []);
    expect(plan.groups.map(({ about, nodes }) => [about, nodes.map(({ name }) => name)])).toEqual([
      ['windows 10.0.20348', ['win1', 'win2']],
      ['windows 10.0.26100', ['win3']],
    ]);
    expect(plan.linux.map(({ name }) => name)).toEqual(['w1', 'w2']);
  });

  test('takes a control plane where no worker accepts pods, and nodes with taints of the inventory, but no others', () => {
    const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' } as const;
    const tainted = clusterOf({ nodes: [controlPlane, linux('w1', [taint]), linux('w2', [{ ...taint, key: 'odd' }])] });
    const hosts = [{ ...linuxHost('w1'), taints: [taint] }];
    const plan = selftestPlan(tainted, 'linux', hosts);
    expect(plan.linux.map(({ name }) => name)).toEqual(['cp1', 'w1']);
    const pods = selftestObjects(plan, 'agnhost') as unknown as Pod[];
    const of = (name: string): object | undefined => pods.find(({ metadata }) => metadata.name === name)?.spec;
    expect(of('linux-peer')).toMatchObject({
      tolerations: [
        { key: 'node-role.kubernetes.io/control-plane', operator: 'Equal', value: '', effect: 'NoSchedule' },
      ],
    });
    expect(of('linux-across')).toMatchObject({
      tolerations: [{ key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }],
    });
    expect(selftestPlan(tainted, 'linux', []).linux.map(({ name }) => name)).toEqual(['cp1']);
  });

  test('a cluster without Windows nodes has no groups, except Linux if the operator asks for it', () => {
    const all = clusterOf({ nodes: [controlPlane, linux('w1')] });
    expect(selftestPlan(all, 'windows', []).groups).toEqual([]);
    expect(selftestPlan(all, 'linux', []).groups).toHaveLength(1);
  });
});

describe('selftest objects', () => {
  const objects = selftestObjects(selftestPlan(cluster, 'windows', []), 'agnhost') as unknown as Pod[];

  test('have unique names and are pinned to the nodes that they test', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(objects.find(({ metadata }) => metadata.name === 'windows-10-0-20348-across')?.spec.nodeSelector).toEqual({
      'kubernetes.io/hostname': 'win2',
    });
  });

  test('the RuntimeClass pod has no nodeSelector, and tolerates nothing that its class must', () => {
    const { spec } = objects.find(({ metadata }) => metadata.name === 'windows-10-0-26100-by-class')!;
    expect(spec).toMatchObject({ runtimeClassName: 'windows-2025' });
    expect(spec.nodeSelector).toBeUndefined();
    expect(spec).toMatchObject({ tolerations: [] });
  });
});

describe('selftest run', () => {
  test('in a healthy cluster every flow passes, except limits of Windows and flows without a node for them', async () => {
    const rows = await ran(world());
    expect(of(rows, 'fail')).toEqual([]);
    expect(rows).toHaveLength(2 * flows.length);
    expect(new Set(of(rows, 'limit').map(({ flow }) => flow)).size).toBe(3);
    expect(of(rows, 'not-tried').map(({ about, flow }) => `${about}: ${flow}`)).toEqual([
      'windows 10.0.26100: pod to pod across hosts',
    ]);
  });

  test('a Windows node that reaches no pod of another node is a limit where its network says so, and else a failure', async () => {
    const unreachable = world({
      exec: (pod, command) =>
        command.includes('connect') && pod.endsWith('-host')
          ? Promise.reject(new Error('TIMEOUT'))
          : world().exec(pod, command),
    });
    const title = 'node to pod on another node';
    const results = async (nodeLimit?: string): Promise<readonly string[]> =>
      (await ran(unreachable, 'windows', nodeLimit)).flatMap(({ flow, result }) => (flow === title ? [result] : []));
    expect(await results('VXLAN')).toEqual(['limit', 'limit']);
    expect(await results()).toEqual(['fail', 'fail']);
  });

  test('retries a failing flow until its time limit, then reports the reason', async () => {
    let asked = 0;
    const rows = await ran(
      world({
        portForward: () => {
          asked += 1;
          return Promise.reject(new Error('error forwarding port: wincat not found\nmore'));
        },
      }),
    );
    expect(of(rows, 'fail').map((row) => ('why' in row ? row.why : ''))).toEqual(
      Array(2).fill('error forwarding port: wincat not found'),
    );
    expect(asked).toBe(6);
  });

  test('if a pod does not run, every flow of its build fails with the reason', async () => {
    const bench = world();
    const rows = await ran({
      ...bench,
      pods: async () =>
        (await bench.pods()).map((pod) =>
          pod.name === 'windows-10-0-26100-main' ? { ...pod, ready: false, reason: 'ImagePullBackOff' } : pod,
        ),
    });
    expect(new Set(of(rows, 'fail').map(({ about }) => about))).toEqual(new Set(['windows 10.0.26100']));
    expect(of(rows, 'fail')[0]).toMatchObject({ why: 'its pod does not run: ImagePullBackOff' });
  });

  test('if a pod without a toleration runs on Windows, the taint flow fails', async () => {
    const bench = world();
    const rows = await ran({
      ...bench,
      pods: async () => (await bench.pods()).map((pod) => (pod.name === 'plain' ? { ...pod, node: 'win1' } : pod)),
    });
    expect(of(rows, 'fail').map(({ flow }) => flow)).toEqual(Array(2).fill('the taint holds Linux pods off'));
  });

  test('deletes its namespace, also if it cannot observe its pods', async () => {
    const fine = world();
    await ran(fine);
    expect(fine.calls).toEqual(['begin', 'end']);
    const broken = world({ pods: () => Promise.reject(new Error('no API')) });
    await expect(ran(broken)).rejects.toThrow('no API');
    expect(broken.calls).toEqual(['begin', 'end']);
  });
});

describe('what lies outside', () => {
  const inventory = inventoryOf();
  const outside = (target: string, ...addresses: readonly string[]) =>
    outsideOf(inventory, target, () => Promise.resolve(addresses));

  test('is by default where nodes pull the test image from', () => {
    expect(defaultOutside(inventory)).toBe('registry.k8s.io:443');
    const registries = [{ host: 'registry.k8s.io', mirrors: ['http://mirror.example:5000'] }];
    expect(defaultOutside({ ...inventory, runtime: { ...inventory.runtime, registries } })).toBe('mirror.example:5000');
  });

  test('is tried by its name, and by the first address that is none of pods, Services and hosts', async () => {
    expect(await outside('mirror.example:443', '10.244.1.1', '10.96.0.9', '198.51.100.4')).toEqual({
      byAddress: { target: '198.51.100.4:443' },
      byName: { target: 'mirror.example:443' },
    });
  });

  test.each([
    [
      '10.0.0.11:6443',
      [],
      { byAddress: { none: expect.stringContaining('10.0.0.11 is inside the cluster') as string } },
    ],
    ['198.51.100.4:443', [], { byName: { none: expect.stringContaining('is an address') as string } }],
    ['nowhere.example:443', [], { byName: { none: expect.stringContaining('no control plane resolves') as string } }],
    ['[2001:db8::1]:443', [], { byAddress: { target: '[2001:db8::1]:443' } }],
  ] as const)('%s', async (target, addresses, expected) => {
    expect(await outside(target, ...addresses)).toMatchObject(expected);
  });
});

test('each of the nine flows that the documentation of Kubernetes names is tried', () => {
  const titles = flows.map(({ title }) => title);
  expect(Object.keys(DOCUMENTED_FLOWS)).toHaveLength(9);
  expect(Object.values(DOCUMENTED_FLOWS).filter((title) => !titles.includes(title))).toEqual([]);
});

test('prints the report as a table', async () => {
  const text = selftestText((await ran(world(), 'linux')).slice(0, 3));
  expect(text).toBe(
    [
      'linux  pass  two containers in a pod both answer',
      'linux  pass  containers of a pod reach each other by localhost',
      'linux  pass  pod logs',
      '',
      '3 pass, 0 FAIL, 0 limit, 0 not tried',
      '',
    ].join('\n'),
  );
});
