import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parallelFramedScript } from '../../../src/cluster/fleet/framed-script.ts';
import type { LinuxFacts } from '../../../src/cluster/fleet/linux.ts';
import { parsePods } from '../../../src/cluster/fleet/objects.ts';
import { observeCluster } from '../../../src/cluster/fleet/observe-cluster.ts';
import type { ClusterUp, ClusterView } from '../../../src/cluster/fleet/view.ts';
import { FactError } from '../../../src/errors.ts';
import type { LinuxHost } from '../../../src/inventory/inventory.ts';
import { flannelObjects } from '../../../src/network/flannel.step.ts';
import { sh } from '../../../src/shell/sh.ts';
import type { ExecResult } from '../../../src/ssh/transport.ts';
import { cp1, factsOf, freshHost, hostOf, inventoryOf, joinedControlPlane, joinedHost } from '../../fakes/cluster.ts';
import { flannelNetwork, withNetwork } from '../../fakes/network.ts';

const captured = readFileSync(new URL('../../fixtures/cluster/kubernetes-1.36.3.txt', import.meta.url), 'utf8');
const inventory = withNetwork(inventoryOf(), flannelNetwork());
const tools = { nowMs: () => 0, nonce: () => 'NONCE' };
const wanted = [
  ...flannelObjects(inventory),
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'not-there' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull', namespace: 'default' } },
];

const answers = (stdout: string, stderr = ''): ExecResult => ({ stdout, stderr, status: 0 });
const failing = (name: string): string =>
  captured.replace(new RegExp(`(NONCE:begin:${name}\\n)[\\s\\S]*?\\nNONCE:end:${name}:0`), `$1\nNONCE:end:${name}:1`);
const without = (configMap: string): string => captured.replaceAll(`"name":"${configMap}"`, '"name":"something-else"');

const observe = (
  answer: (host: LinuxHost) => Promise<ExecResult>,
  hosts: readonly (readonly [LinuxHost, LinuxFacts])[] = [joinedHost(cp1)],
): Promise<ClusterView> =>
  observeCluster(
    inventory,
    hosts.map(([host, facts]) => ({ os: 'linux', host, facts })),
    (host) => () => answer(host),
    wanted,
    tools,
  );

const up = async (text: string): Promise<ClusterUp> => {
  const view = await observe(() => Promise.resolve(answers(text)));
  expect(view.state).toBe('up');
  return view as ClusterUp;
};

describe('of the parts of a cluster', () => {
  test('only those that were asked for cost a process; the others are unknown, not empty', async () => {
    const scripts: string[] = [];
    const [host, facts] = joinedHost(cp1);
    const view = await observeCluster(
      inventory,
      [{ os: 'linux', host, facts }],
      () => (command) => {
        scripts.push(command.script);
        const kept = ['nowMs', 'ca', 'configMaps', 'nodes'];
        const frame = /NONCE:begin:(.*)\n[\s\S]*?\nNONCE:end:\1:0\n/g;
        return Promise.resolve(
          answers(captured.replace(frame, (all, name: string) => (kept.includes(name) ? all : ''))),
        );
      },
      wanted,
      tools,
      ['nodes'],
    );
    expect(scripts).toHaveLength(1);
    expect(scripts[0]).toContain('/api/v1/nodes');
    expect(scripts[0]).not.toMatch(/etcdctl|\/pods|readyz|secrets/);
    expect(view).toMatchObject({ state: 'up', version: '1.36.3' });
    for (const field of ['members', 'alarms', 'pods', 'endpoint', 'apiServers', 'objects', 'leftoverTokens'])
      expect(() => Reflect.get(view, field) as unknown, field).toThrow(FactError);
  });

  test('an API server that does not tell the nodes that were asked for is down', async () => {
    expect(await observe(() => Promise.resolve(answers(failing('nodes'))))).toMatchObject({ state: 'down' });
  });
});

describe('a live cluster', () => {
  test('is named, with its version and the control plane that was asked', async () => {
    const { via, name, version, caFingerprint, nowMs } = await up(captured);
    expect({ via, name, version }).toEqual({ via: 'cp1', name: 'lab', version: '1.36.3' });
    expect(caFingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(new Date(nowMs).getFullYear()).toBe(2026);
  });

  test('has nodes', async () => {
    const { nodes } = await up(captured);
    expect(
      nodes.map(({ name, role, ready, kubeletVersion, internalAddress }) => [
        name,
        role,
        ready,
        kubeletVersion,
        internalAddress,
      ]),
    ).toEqual([
      ['kcp1', 'control-plane', true, '1.36.3', '10.77.0.13'],
      ['kw1', 'worker', true, '1.36.3', '10.77.0.14'],
    ]);
    expect(nodes[0]!.taints).toEqual([{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }]);
  });

  test('has system pods and the plugin’s', async () => {
    const { pods } = await up(captured);
    expect(pods).toHaveLength(10);
    expect(pods.every(({ ready, lastRestartMs }) => ready && lastRestartMs === 0)).toBe(true);
    expect(
      pods
        .filter(({ labels }) => labels['app'] === 'flannel')
        .map(({ node }) => node)
        .sort(),
    ).toEqual(['kcp1', 'kw1']);
  });

  test('says of a pod what holds it up, and not that it begins', () => {
    const pod = (name: string, status: object) => ({ metadata: { name }, spec: {}, status });
    const waiting = (reason: string, message?: string) => ({
      restartCount: 0,
      state: { waiting: { reason, message } },
    });
    const pods = parsePods(
      JSON.stringify({
        items: [
          pod('begins', {
            initContainerStatuses: [waiting('PodInitializing')],
            containerStatuses: [waiting('ContainerCreating')],
          }),
          pod('image', { containerStatuses: [waiting('ImagePullBackOff', 'not found')] }),
          pod('crashes', {
            initContainerStatuses: [waiting('CrashLoopBackOff')],
            containerStatuses: [waiting('PodInitializing')],
          }),
        ],
      }),
    );
    expect(pods.map(({ trouble }) => trouble)).toEqual(['', 'ImagePullBackOff: not found', 'CrashLoopBackOff']);
  });

  test('has etcd members with exact ids', async () => {
    const { members, alarms } = await up(captured);
    expect(members).toEqual([
      {
        id: '1c3dbc1266e7b820',
        name: 'kcp1',
        peerUrl: 'https://10.77.0.13:2380',
        learner: false,
        healthy: true,
        leader: true,
        dbSize: expect.any(Number) as number,
        dbSizeInUse: expect.any(Number) as number,
        dbSizeQuota: 2 * 1024 ** 3,
        version: expect.any(String) as string,
      },
    ]);
    expect(alarms).toEqual([]);
  });

  test('shows kbuild’s own leftover tokens by their ids, and never a token', async () => {
    const { leftoverTokens } = await up(captured);
    expect(leftoverTokens).toHaveLength(1);
    expect(leftoverTokens[0]).toMatch(/^[a-z0-9]{6}$/);
    expect(captured).not.toMatch(/token-secret/);
  });

  test('shows live objects by the key of what wants them, Secrets by their hash alone', async () => {
    const { objects } = await up(captured);
    expect([...objects.keys()]).toEqual([
      'v1/Namespace//kube-flannel',
      'v1/ServiceAccount/kube-flannel/flannel',
      'rbac.authorization.k8s.io/v1/ClusterRole//flannel',
      'rbac.authorization.k8s.io/v1/ClusterRoleBinding//flannel',
      'v1/ConfigMap/kube-flannel/kube-flannel-cfg',
      'apps/v1/DaemonSet/kube-flannel/kube-flannel-ds',
      'v1/ConfigMap//kube-root-ca.crt',
      'v1/Secret/default/pull',
    ]);
    expect(objects.get('v1/Secret/default/pull')).not.toHaveProperty('data');
  });

  test('lists what kbuild owns and the stored configurations', async () => {
    const { owned, configuration, kubeletConfiguration } = await up(captured);
    expect(owned).toContain('apps/v1/DaemonSet/kube-flannel/kube-flannel-ds');
    expect(configuration).toMatchObject({ controlPlaneEndpoint: '10.77.0.13:6443' });
    expect(kubeletConfiguration).toMatchObject({ cgroupDriver: 'systemd' });
  });
});

describe('unknown is never absent', () => {
  test('etcd that does not answer throws when its members are read, and hides nothing else', async () => {
    const view = await up(failing('etcd'));
    expect(() => view.members).toThrow(FactError);
    expect(view.nodes).toHaveLength(2);
  });

  test.each(['objects0', 'tokens', 'systemPods'])('%s', async (name) => {
    const view = await up(failing(name));
    expect(() => [view.objects, view.leftoverTokens, view.pods]).toThrow(FactError);
  });
});

describe('the control plane through which the cluster is observed', () => {
  const cp2 = hostOf({ name: 'cp2', role: 'control-plane' });
  const refused = { stdout: '', stderr: 'connection refused', status: 1 };

  test('if no host has a control plane, the cluster is absent, and no command runs', async () => {
    const never = () => Promise.reject(new Error('asked'));
    expect(await observe(never, [freshHost(cp1)])).toEqual({ state: 'absent' });
  });

  const lost = (...files: readonly string[]) =>
    joinedControlPlane({
      kubernetesTraces: new Set([
        '/etc/kubernetes/kubelet.conf',
        '/etc/kubernetes/manifests/kube-apiserver.yaml',
        ...files,
      ]),
    });

  test('a control plane without admin.conf is used with super-admin.conf, and after the others', async () => {
    const founder = lost('/etc/kubernetes/super-admin.conf');
    const answer = () => Promise.resolve(answers(captured));
    expect(await observe(answer, [[cp1, founder]])).toMatchObject({ state: 'up', via: 'cp1' });
    const both = [[cp1, founder], joinedHost(cp2)] as const;
    expect(await observe(answer, both)).toMatchObject({ state: 'up', via: 'cp2' });
  });

  test('one that lost both is down, not absent: a cluster lives there', async () => {
    const never = () => Promise.reject(new Error('asked'));
    expect(await observe(never, [[cp1, lost()]])).toEqual({
      state: 'down',
      reason: 'cp1: a control plane runs there, and its /etc/kubernetes/admin.conf is gone; `kbuild up` makes it again',
    });
  });

  test('the next one when the first does not answer', async () => {
    const view = await observe(
      (host) => Promise.resolve(host.name === 'cp1' ? refused : answers(captured)),
      [joinedHost(cp1), joinedHost(cp2)],
    );
    expect(view).toMatchObject({ state: 'up', via: 'cp2' });
  });

  test('the next one when the first cannot tell the members of etcd, and the first when no other can', async () => {
    const two = { ...inventory, hosts: [cp1, cp2] };
    const seen = (answer: (host: LinuxHost) => string) =>
      observeCluster(
        two,
        [joinedHost(cp1), joinedHost(cp2)].map(([host, facts]) => ({ os: 'linux', host, facts })),
        (host) => () => Promise.resolve(answers(answer(host))),
        wanted,
        tools,
      );
    const stopped = failing('etcd');
    expect(await seen(({ name }) => (name === 'cp1' ? stopped : captured))).toMatchObject({ state: 'up', via: 'cp2' });
    const view = (await seen(() => stopped)) as ClusterUp;
    expect(view.via).toBe('cp1');
    expect(() => view.members).toThrow(FactError);
  });

  test('none answers: down, with every reason', async () => {
    const view = await observe(() => Promise.reject(new Error('connection lost')));
    expect(view).toEqual({ state: 'down', reason: 'connection lost' });
    expect(await observe(() => Promise.resolve(answers(failing('nodes'))))).toMatchObject({ state: 'down' });
  });

  test('an API whose init has not finished is down', async () => {
    expect(await observe(() => Promise.resolve(answers(without('kubeadm-config'))))).toEqual({
      state: 'down',
      reason: 'the API answers, but kubeadm-config is missing: its init has not finished',
    });
  });

  test('a control plane about which it cannot be told is down, not absent', async () => {
    const facts = Object.defineProperty(factsOf(), 'kubernetesTraces', {
      get: () => {
        throw new FactError('cp1', 'kubernetesTraces', 'no answer within 20 s');
      },
    });
    expect(await observe(() => Promise.reject(new Error()), [[cp1, facts]])).toMatchObject({ state: 'down' });
  });
});

test('a script that asks many at once frames each answer like one that asks in turn', () => {
  const { script } = parallelFramedScript({ a: sh`echo one`, b: sh`false` }, 'N');
  expect(script).toContain("q a 'set -eu; export LC_ALL=C\necho one' &");
  expect(script.indexOf('wait')).toBeLessThan(script.indexOf('\np a'));
});
