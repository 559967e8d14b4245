import { describe, expect, test } from 'vitest';
import { podNetwork, readPodConnects } from '../../src/network/pod-network.survey.ts';
import {
  expired,
  type PodSeen,
  podSpace,
  type PodSpace,
  podsSeen,
  podWarnings,
} from '../../src/network/pods.survey.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';

interface Pod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName: string };
}

/** A namespace whose pods run at once; `answer` says what one of them is told about a target. */
function space(answer: (from: string, target: string, time: number) => string, over: Partial<PodSpace> = {}) {
  const calls: string[] = [];
  const asked = new Map<string, number>();
  let pods: readonly PodSeen[] = [];
  const one: PodSpace = {
    namespace: 'kbuild-check-1',
    begin: () => Promise.resolve(void calls.push('begin')),
    end: () => Promise.resolve(void calls.push('end')),
    apply: (objects: readonly JsonObject[]) => {
      pods = (objects as unknown as Pod[]).map(({ metadata, spec: { nodeName } }) => ({
        ...{ name: metadata.name, node: nodeName, ip: `ip-${nodeName}`, ready: true, reason: '' },
      }));
      return Promise.resolve();
    },
    pods: () => Promise.resolve(pods),
    warnings: () => Promise.resolve(new Map()),
    exec: (pod, [, , text]) => {
      calls.push(`exec ${pod}`);
      const time = (asked.get(pod) ?? 0) + 1;
      asked.set(pod, time);
      const targets = /TARGETS='?([^'#]*)/.exec(text!)![1]!.trim().split('\n');
      return Promise.resolve(targets.map((target) => `${target} ${answer(pod.slice(3), target, time)}\n`).join(''));
    },
    ...over,
  };
  return { one, calls };
}

const survey = (one: PodSpace, nodes: readonly string[], signal = new AbortController().signal) => {
  let now = 0;
  return podNetwork(one, nodes, {
    ...{ image: 'agnhost', api: '10.96.0.1:443', startMs: 3000, signal, nowMs: () => now, say: () => undefined },
    sleep: (ms) => Promise.resolve(void (now += ms)),
  });
};

describe('the survey of pods', () => {
  test('tries every way from every node by one command a node, and cleans up', async () => {
    const { one, calls } = space(() => 'open');
    expect(await survey(one, ['cp1', 'w1', 'w2'])).toEqual({ tried: 12, blocked: [], failed: [] });
    expect(calls).toEqual(['begin', 'exec on-cp1', 'exec on-w1', 'exec on-w2', 'end']);
  });

  test('says which way leads nowhere, and how', async () => {
    const { one } = space((from, target) =>
      from === 'w1' && target === 'ip-w2:8080'
        ? 'TIMEOUT'
        : from === 'w2' && target.startsWith('10.96')
          ? 'REFUSED'
          : 'open',
    );
    expect((await survey(one, ['w1', 'w2'])).blocked).toEqual([
      { from: 'w1', to: { about: 'pod', node: 'w2' }, how: 'no answer within 3 s' },
      { from: 'w2', to: { about: 'api' }, how: 'refused' },
    ]);
  });

  test('a packet that got lost once is no finding', async () => {
    const { one, calls } = space((_, target, time) => (time === 1 && target.startsWith('kube') ? 'DNS: lost' : 'open'));
    expect((await survey(one, ['w1'])).blocked).toEqual([]);
    expect(calls).toEqual(['begin', 'exec on-w1', 'exec on-w1', 'end']);
  });

  test('a pod that does not start, or cannot be asked, is said with its reason; the others are tried', async () => {
    const { one } = space(() => 'open', {
      warnings: () => Promise.resolve(new Map([['on-w1', 'Failed to pull image "agnhost"']])),
      pods: () =>
        Promise.resolve([
          { name: 'on-w1', node: 'w1', ip: '', ready: false, reason: 'ImagePullBackOff' },
          { name: 'on-w2', node: 'w2', ip: 'ip-w2', ready: true, reason: '' },
        ]),
    });
    expect(await survey(one, ['w1', 'w2'])).toEqual({
      ...{ tried: 2, blocked: [] },
      failed: [{ node: 'w1', reason: 'Failed to pull image "agnhost"' }],
    });
    const broken = space(() => 'open', { exec: () => Promise.reject(new Error('w1: exec failed: 1\nand more')) });
    expect((await survey(broken.one, ['w1'])).failed).toEqual([{ node: 'w1', reason: 'w1: exec failed: 1' }]);
  });

  test('is cleaned up when it fails and when it is interrupted', async () => {
    const failing = space(() => 'open', { pods: () => Promise.reject(new Error('no API')) });
    await expect(survey(failing.one, ['w1'])).rejects.toThrow('no API');
    expect(failing.calls).toEqual(['begin', 'end']);
    const { one, calls } = space(() => 'open');
    await expect(survey(one, ['w1'], AbortSignal.abort(new Error('interrupted')))).rejects.toThrow('interrupted');
    expect(calls).toEqual(['begin', 'end']);
  });
});

test('a name that is known is no matter of the way behind it', () => {
  const dns = [['kubernetes.default:443', { about: 'dns' }]] as const;
  const of = (said: string) => readPodConnects(`kubernetes.default:443 ${said}\n`, dns)[0]![1];
  expect(of('TIMEOUT')).toBeUndefined();
  expect(of('DNS: lookup kubernetes.default on 10.96.0.10:53: i/o timeout')).toBe(
    'lookup kubernetes.default on 10.96.0.10:53: i/o timeout',
  );
  expect(readPodConnects('', dns)[0]![1]).toBe('it was not tried');
});

describe('the namespace', () => {
  const list = (items: readonly object[]): string => `1800000000\n${JSON.stringify({ items })}`;
  const named = (name: string, until?: string, phase = 'Active') => ({
    metadata: { name, ...(until === undefined ? {} : { annotations: { 'kbuild.dev/until': until } }) },
    status: { phase },
  });

  test('of a run that was killed is removed when its time is over; one in use is left alone', () =>
    expect(
      expired(
        list([
          named('old', '1799999999'),
          named('used', '1800000600'),
          named('odd'),
          named('going', '1', 'Terminating'),
        ]),
      ),
    ).toEqual(['old', 'odd']));

  test('takes what the standard allows, says until when it is used, and lives on a channel', async () => {
    const { on, sent } = recordingOn({
      run: ({ script }) => (script.startsWith('date') ? list([named('old', '5')]) : ''),
    });
    const remote = on(linuxHost('cp1'));
    const one = podSpace({
      ...{ kubectl: ['kubectl'], remote, namespace: 'kbuild-check-1', security: 'restricted', lifeSeconds: 900 },
    });
    await one.begin();
    await one.end();
    const scripts = sent.map((entry) => `${entry.kind} ${'script' in entry ? entry.script : ''}`);
    expect(scripts[1]).toMatch(/^run .* delete namespace old .*--wait=false/);
    expect(scripts[2]).toMatch(/^hold /);
    expect(scripts[2]).toContain('"pod-security.kubernetes.io/enforce":"restricted"');
    expect(scripts[2]).toContain('"kbuild.dev/until":"1800000900"');
    expect(scripts[3]).toMatch(/^run kubectl delete namespace kbuild-check-1 .*--timeout/);
  });
});

test('pods and why they are not ready, as the API says it', () => {
  const pod = (name: string, status: object) => ({ metadata: { name }, spec: { nodeName: 'w1' }, status });
  const waiting = { reason: 'ErrImagePull', message: 'not found' };
  const items = [
    pod('a', { podIP: '10.244.1.2', conditions: [{ type: 'Ready', status: 'True' }] }),
    pod('b', { containerStatuses: [{ state: { waiting } }] }),
    pod('c', { conditions: [{ type: 'PodScheduled', status: 'False', message: 'no node' }] }),
    pod('d', { phase: 'Failed', reason: 'OutOfpods', message: 'Node is full' }),
    pod('e', {}),
    pod('f', { containerStatuses: [{ state: {} }] }),
  ];
  expect(podsSeen(JSON.stringify({ items })).map(({ name, reason }) => `${name} ${reason}`)).toEqual([
    'a ',
    'b ErrImagePull: not found',
    'c no node',
    'd OutOfpods: Node is full',
    'e its kubelet has not begun',
    'f its server does not answer',
  ]);
  const event = (type: string, message: string) => ({ type, message, involvedObject: { kind: 'Pod', name: 'b' } });
  const events = [event('Warning', 'first'), event('Warning', 'last\nline'), event('Normal', 'Pulling')];
  expect([...podWarnings(JSON.stringify({ items: events }))]).toEqual([['b', 'last']]);
});
