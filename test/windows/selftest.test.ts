import { describe, expect, test } from 'vitest';
import { selftestText } from '../../src/report/selftest.ts';
import type { PodSeen } from '../../src/surveys/pods-seen.ts';
import type { Bench } from '../../src/windows/selftest/bench.ts';
import { flows } from '../../src/windows/selftest/flows.ts';
import { CONTENT, selftestObjects } from '../../src/windows/selftest/objects.ts';
import type { Row } from '../../src/windows/selftest/outcome.ts';
import { selftestPlan } from '../../src/windows/selftest/plan.ts';
import { selftest } from '../../src/windows/selftest/selftest.ts';
import type { JsonObject } from '../../src/model/inventory.ts';
import { clusterOf, nodeOf } from '../fakes/cluster.ts';

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
    const [, service] = /^service-(.*)$/.exec(host) ?? /^(.*)\.test\.svc\.cluster\.local$/.exec(host) ?? [];
    if (service !== undefined) return `${service}-main`;
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
    portForward: (pod) => Promise.resolve(pod),
    fromOutside: (address) => Promise.resolve(answering('', address)),
    ...over,
  };
}
async function ran(bench: Bench, os: 'windows' | 'linux' = 'windows'): Promise<readonly Row[]> {
  let now = 0;
  return selftest(bench, selftestPlan(cluster, os), cluster.nodes, {
    image: 'agnhost',
    dnsDomain: 'cluster.local',
    outside: 'k8s.example:6443',
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
    const plan = selftestPlan(cluster, 'windows');
    expect(plan.groups.map(({ about, nodes }) => [about, nodes.map(({ name }) => name)])).toEqual([
      ['windows 10.0.20348', ['win1', 'win2']],
      ['windows 10.0.26100', ['win3']],
    ]);
    expect(plan.linux.map(({ name }) => name)).toEqual(['w1', 'w2']);
  });

  test('a cluster without Windows nodes has no groups, except Linux if the operator asks for it', () => {
    const all = clusterOf({ nodes: [controlPlane, linux('w1')] });
    expect(selftestPlan(all, 'windows').groups).toEqual([]);
    expect(selftestPlan(all, 'linux').groups).toHaveLength(1);
  });
});

describe('selftest objects', () => {
  const objects = selftestObjects(selftestPlan(cluster, 'windows'), 'agnhost') as unknown as Pod[];

  test('have unique names and are pinned to the nodes that they test', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(objects.find(({ metadata }) => metadata.name === 'windows-10-0-20348-across')?.spec.nodeSelector).toEqual({
      'kubernetes.io/hostname': 'win2',
    });
  });

  test('the RuntimeClass pod has no nodeSelector and no tolerations', () => {
    const { spec } = objects.find(({ metadata }) => metadata.name === 'windows-10-0-26100-by-class')!;
    expect(spec).toMatchObject({ runtimeClassName: 'windows-2025' });
    expect(spec.nodeSelector).toBeUndefined();
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
