import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Forward, httpsPeer } from '../../../src/cluster/fleet/https-peer.ts';
import type { LinuxFacts } from '../../../src/cluster/fleet/linux.ts';
import { observeCluster } from '../../../src/cluster/fleet/observe-cluster.ts';
import type { Ask } from '../../../src/cluster/fleet/observe-linux.ts';
import type { ClusterUp, ClusterView } from '../../../src/cluster/fleet/view.ts';
import { FactError } from '../../../src/errors.ts';
import type { Inventory, LinuxHost } from '../../../src/inventory/inventory.ts';
import { flannelObjects } from '../../../src/network/flannel.step.ts';
import { Secret } from '../../../src/shell/secret.ts';
import { adminConf, askOf, captured, capturedCluster, ownFrames } from '../../fakes/cluster-server.ts';
import { cp1, cp2, inventoryOf, joinedHost } from '../../fakes/cluster.ts';
import { type FakeAnswer, fakeHttpsServer, type FakeHttpsServer, pem } from '../../fakes/https-server.ts';
import { flannelNetwork, withNetwork } from '../../fakes/network.ts';

const inventory = withNetwork(inventoryOf(), flannelNetwork());
const wanted = [
  ...flannelObjects(inventory),
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'not-there' } },
  { apiVersion: 'example.org/v1', kind: 'Unknown', metadata: { name: 'its-crd-is-not-there' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull', namespace: 'default' } },
];

const running: FakeHttpsServer[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});

async function serve(answer: (request: string, accept: string) => FakeAnswer): Promise<FakeHttpsServer> {
  const server = await fakeHttpsServer(answer);
  running.push(server);
  return server;
}

interface Seen {
  readonly forward?: Forward | undefined;
  readonly ask?: Ask;
  readonly of?: Inventory;
  readonly hosts?: readonly (readonly [LinuxHost, LinuxFacts])[];
}

const observe = ({
  forward,
  ask = askOf(ownFrames()),
  of = inventory,
  hosts = [joinedHost(cp1)],
}: Seen): Promise<ClusterView> =>
  observeCluster(
    of,
    hosts.map(([host, facts]) => ({ os: 'linux', host, facts })),
    () => ask,
    wanted,
    { nowMs: () => 0, nonce: () => 'NONCE', ...(forward === undefined ? {} : { forward: () => forward }) },
  );

/** Every field of a view: its value, or that it could not be read. */
const fields = (view: ClusterView): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(view).map((name) => {
      try {
        return [name, Reflect.get(view, name) as unknown];
      } catch (error) {
        expect(error).toBeInstanceOf(FactError);
        return [name, 'unknown'];
      }
    }),
  );

const up = (view: ClusterView): ClusterUp => {
  expect(view.state === 'up' ? 'up' : view).toBe('up');
  return view as ClusterUp;
};

/** The captured cluster with other answers to some requests. */
const except =
  (others: Readonly<Record<string, FakeAnswer>>) =>
  (request: string): FakeAnswer =>
    others[request] ?? capturedCluster(request);

describe('the cluster over SSH’s own channel', () => {
  test('has the same value in every fact that commands on the host observed', async () => {
    const { forward, requests, addresses } = await serve(capturedCluster);
    const over = fields(up(await observe({ forward })));
    const before = fields(up(await observe({})));
    // The captured commands did not have these yet.
    const later = [
      'kubelets',
      'caReaders',
      'tokenUse',
      'handlerPods',
      'kubeadmRules',
      'kubeletRequests',
      'endpoint',
      'apiServers',
    ];
    for (const [name, value] of Object.entries(before))
      if (!later.includes(name)) expect(over[name], name).toEqual(value);
    expect(over).toMatchObject({
      endpoint: 'ok',
      apiServers: new Map([['cp1', 'ok']]),
      caReaders: [],
      kubeletRequests: [],
    });
    expect(new Set(requests).size, 'no path is asked twice but those of members of etcd').toBeGreaterThan(15);
    expect(addresses.toSorted()).toEqual([
      '10.0.0.11:2379',
      '10.0.0.11:6443',
      '10.77.0.13:2379',
      '127.0.0.1:2379',
      'k8s.example:6443',
    ]);
  });

  test('costs one small script on the host, whose kubeconfig and keys are in no fact', async () => {
    const { forward } = await serve(capturedCluster);
    const asked: string[] = [];
    const own = ownFrames();
    const view = await observe({ forward, ask: ({ script }) => (asked.push(script), Promise.resolve(own)) });
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toMatch(/kubectl|etcdctl|crictl/);
    expect(JSON.stringify(fields(view))).not.toContain('PRIVATE KEY');
    expect(JSON.stringify(fields(view))).not.toContain(Buffer.from('not to be seen').toString('base64'));
  });

  test('tells with what each kubelet runs, and leaves out one that does not answer or is not ready', async () => {
    const path = 'GET /api/v1/nodes/cp1/proxy/configz';
    const kubeletconfig = { maxPods: 110 };
    const answers: readonly (readonly [FakeAnswer, unknown])[] = [
      [{ body: JSON.stringify({ kubeletconfig }, null, 1) }, new Map([['cp1', kubeletconfig]])],
      [{ status: 502, body: 'dial tcp 10.0.0.11:10250: connect: connection refused' }, new Map()],
      [{ body: '<html>' }, new Map()],
      [{ body: '[]' }, new Map()],
    ];
    for (const [answer, expected] of answers) {
      const { body } = capturedCluster('GET /api/v1/nodes') as { readonly body: string };
      const nodes = { body: body.replaceAll('kcp1', 'cp1') };
      const { forward } = await serve(except({ [path]: answer, 'GET /api/v1/nodes': nodes }));
      expect(up(await observe({ forward })).kubelets).toEqual(expected);
    }
  });

  test('reads only the parts that are asked for', async () => {
    const { forward, requests } = await serve(capturedCluster);
    const [host, facts] = joinedHost(cp1);
    const tools = { nowMs: () => 0, nonce: () => 'NONCE', forward: () => forward };
    await observeCluster(inventory, [{ os: 'linux', host, facts }], () => askOf(ownFrames()), wanted, tools, ['nodes']);
    expect(requests.toSorted()).toEqual(['GET /api/v1/namespaces/kube-system/configmaps', 'GET /api/v1/nodes']);
  });
});

describe('where the server forwards nothing', () => {
  const denied: Forward = () => Promise.resolve({ kind: 'denied', reason: 'administratively prohibited: open failed' });

  test('commands on the host observe the same cluster, and the view says why', async () => {
    const view = up(await observe({ forward: denied }));
    expect(view.detour).toBe('administratively prohibited: open failed');
    const facts = fields(await observe({}));
    expect(fields(view)).toEqual({ ...facts, detour: view.detour });
  });

  test('to etcd alone, all is observed by commands: half a view by each would be of two moments', async () => {
    const { forward } = await serve(capturedCluster);
    const noEtcd: Forward = (address, port) => (port === 2379 ? denied(address, port) : forward(address, port));
    expect(up(await observe({ forward: noEtcd })).detour).toContain('prohibited');
  });

  test.each([
    ['a kubeconfig that cannot be read', { kubeconfig: undefined }, 'cannot be read'],
    ['a kubeconfig that leads to files', { kubeconfig: adminConf().replaceAll('-data', '') }, 'holds no certificate'],
    ['a kubeconfig that is none', { kubeconfig: '{' }, 'holds no certificate'],
  ])('%s is left to kubectl too', async (_, own, why) => {
    const { forward, requests } = await serve(capturedCluster);
    expect(up(await observe({ forward, ask: askOf(ownFrames(own)) })).detour).toContain(why);
    expect(requests.filter((request) => request.startsWith('GET'))).toEqual([]);
  });

  test('an etcd without its HTTP gateway is left to etcdctl', async () => {
    const { forward } = await serve(
      except({ 'POST /v3/cluster/member/list': { status: 404, body: '404 page not found' } }),
    );
    const view = up(await observe({ forward }));
    expect(view.detour).toContain('--enable-grpc-gateway=false');
    expect(view.members).toHaveLength(1);
  });
});

/** The captured output of commands in which one probe has failed. */
const failing = (name: string): string =>
  captured.replace(new RegExp(`(NONCE:begin:${name}\\n)[\\s\\S]*?\\nNONCE:end:${name}:0`), `$1\nNONCE:end:${name}:1`);
const byCommands = (stdout: string) => observe({ ask: askOf(ownFrames(), { stdout, stderr: '', status: 0 }) });
const forbidden = { status: 403, body: JSON.stringify({ reason: 'Forbidden', message: 'nodes is forbidden' }) };
const PODS = 'GET /api/v1/namespaces/kube-system/pods';
const NODES = 'GET /api/v1/nodes';
const MEMBERS = 'POST /v3/cluster/member/list';

describe('unknown is never absent: the state is that of a command which failed in the same way', () => {
  const unread = ['objects', 'members', 'alarms', 'pods', 'leftoverTokens', 'nodes'];
  const unknownIn = (view: ClusterView): readonly string[] =>
    Object.entries(fields(view))
      .filter(([name, value]) => value === 'unknown' && unread.includes(name))
      .map(([name]) => name)
      .toSorted();

  test.each<readonly [string, string, FakeAnswer, string]>([
    ['pods that are forbidden', PODS, forbidden, 'systemPods'],
    ['a path that is not there', PODS, { status: 404, body: 'page not found' }, 'systemPods'],
    ['an answer that is no JSON', PODS, { body: '<html>' }, 'systemPods'],
    ['a list that is none', PODS, { body: '{"items":7}' }, 'systemPods'],
    ['half an answer', PODS, { half: '{"items":[' }, 'systemPods'],
    [
      'members that etcd does not tell',
      MEMBERS,
      { status: 503, body: '{"error":"etcdserver: request timed out"}' },
      'etcd',
    ],
    ['members that are no list', MEMBERS, { body: '[]' }, 'etcd'],
    ['alarms that etcd does not tell', 'POST /v3/maintenance/alarm', { status: 500, body: '{}' }, 'etcd'],
    ['nodes that are forbidden', NODES, forbidden, 'nodes'],
    ['nodes in half an answer', NODES, { half: '{"items":[]' }, 'nodes'],
  ])('%s', async (_, request, answer, probe) => {
    const { forward } = await serve(except({ [request]: answer }));
    const over = await observe({ forward });
    const before = await byCommands(failing(probe));
    expect(over.state).toBe(before.state);
    // A connection that ends takes other answers with it, which then are unknown too.
    expect(unknownIn(over)).toEqual(expect.arrayContaining([...unknownIn(before)]));
    if (typeof answer === 'object' && !('half' in answer)) expect(unknownIn(over)).toEqual(unknownIn(before));
  });

  test('an empty list is empty', async () => {
    const { forward } = await serve(except({ [PODS]: { body: '{"items":[]}' } }));
    expect(up(await observe({ forward })).pods.every(({ namespace }) => namespace === 'kube-flannel')).toBe(true);
  });

  const refused: Forward = () => Promise.resolve({ kind: 'failed', reason: 'Connection refused' });
  test('an API server that refuses connections is down, and etcd beside it is not asked by commands', async () => {
    const view = await observe({ forward: refused, ask: askOf(ownFrames(), { stdout: '', stderr: '', status: 0 }) });
    expect(view).toEqual({
      state: 'down',
      reason: expect.stringContaining('10.0.0.11:6443: Connection refused') as string,
    });
  });

  test('an API server that takes the connection and says nothing is down after the 5 s of kubectl', async () => {
    const server = await serve((request) => (request.startsWith('GET') ? 'silence' : capturedCluster(request)));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const seen = observe({ forward: server.forward });
    await Promise.all([server.asked('configmaps'), server.asked('/nodes'), server.asked('/pods')]);
    await vi.advanceTimersByTimeAsync(4900);
    const early = await Promise.race([seen, Promise.resolve('not yet')]);
    expect(early).toBe('not yet');
    await vi.advanceTimersByTimeAsync(200);
    expect(await seen).toMatchObject({
      state: 'down',
      reason: expect.stringContaining('no answer within 5 s') as string,
    });
  });

  const peerOf = ({ forward }: FakeHttpsServer) => {
    const identity = { ca: pem.ca, certificate: pem.client, key: Secret.of(pem.clientKey) };
    return httpsPeer(forward, { host: '10.0.0.11', port: 6443 }, Promise.resolve(identity));
  };

  test('a long answer may take its time once it has begun', async () => {
    let send = (_: string): void => undefined;
    const rest = new Promise<string>((resolve) => (send = resolve));
    const server = await serve((request) => (request === 'GET /long' ? { begin: 'a', rest } : { body: 'b' }));
    const peer = peerOf(server);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const long = peer.request('/long');
    await server.asked('/long');
    // On the same connection: when this one is here, the other has begun.
    expect(await peer.request('/short')).toEqual({ status: 200, body: 'b' });
    await vi.advanceTimersByTimeAsync(60_000);
    send('c');
    expect(await long).toEqual({ status: 200, body: 'ac' });
    peer.close();
  });

  test('a connection that ends in the moment in which it is made ends nothing else', async () => {
    const peer = peerOf(await serve(() => ({ body: '' })));
    const session = await peer.connected();
    session.destroy();
    // Node tells of the connection a tick later; what a listener throws then ends the process.
    const told = new Promise((resolve) => session.once('connect', resolve));
    await Promise.race([told, new Promise((resolve) => session.once('close', resolve))]);
    peer.close();
  });

  test('an answer that begins and then stops is given up', async () => {
    const peer = peerOf(await serve(() => ({ begin: 'a', rest: new Promise(() => undefined) })));
    await expect(peer.request('/long', { withinMs: 100 })).rejects.toThrow('no answer within 0.1 s');
    peer.close();
  });

  test('an API server of another CA gets no request, and is down', async () => {
    const { forward, requests } = await serve(capturedCluster);
    const view = await observe({ forward, ask: askOf(ownFrames({ kubeconfig: adminConf(pem.otherCa) })) });
    expect(view).toMatchObject({ state: 'down', reason: expect.stringContaining('certificate') as string });
    expect(requests.filter((request) => request.startsWith('GET'))).toEqual([]);
  });

  test('an API server whose certificate does not name its address gets no request, and is down', async () => {
    const { forward, requests } = await serve(capturedCluster);
    const host = { ...cp1, internalAddress: '10.0.0.99' };
    const view = await observe({ forward, of: { ...inventory, hosts: [host] }, hosts: [joinedHost(host)] });
    expect(view).toMatchObject({ state: 'down', reason: expect.stringContaining('10.0.0.99') as string });
    expect(requests.filter((request) => request.startsWith('GET /api'))).toEqual([]);
  });

  test('a host whose command is lost is down with its reason', async () => {
    const { forward } = await serve(capturedCluster);
    const view = await observe({ forward, ask: () => Promise.reject(new Error('connection lost')) });
    expect(view).toEqual({ state: 'down', reason: 'connection lost' });
  });

  test('of two control planes one that is not ready is given up for the other', async () => {
    const { forward } = await serve(capturedCluster);
    const sick = await serve(
      except({ 'GET /readyz': { status: 500, body: '[+]ping ok\n[-]etcd failed: reason withheld\n' } }),
    );
    const two = { ...inventory, hosts: [cp1, cp2] };
    const choosing: Forward = (address, port) => (address === '10.0.0.11' ? sick : { forward }).forward(address, port);
    const view = up(await observe({ forward: choosing, of: two, hosts: [joinedHost(cp1), joinedHost(cp2)] }));
    expect(view.via).toBe('cp2');
    expect(view.apiServers).toEqual(new Map([['cp2', 'ok'], ['cp1', 'etcd failed']])); // prettier-ignore
  });

  test('an alarm of etcd is told, and a member with another one than NOSPACE is not healthy', async () => {
    const alarmed = (alarm: string) =>
      serve(
        except({
          'POST /v3/maintenance/alarm': { body: `{"alarms":[{"memberID":"2034989393863227424","alarm":"${alarm}"}]}` },
        }),
      );
    const full = up(await observe({ forward: (await alarmed('NOSPACE')).forward }));
    expect([full.alarms, full.members[0]?.healthy]).toEqual([['NOSPACE on 1c3dbc1266e7b820'], true]);
    const corrupt = up(await observe({ forward: (await alarmed('CORRUPT')).forward }));
    expect([corrupt.alarms, corrupt.members[0]?.healthy]).toEqual([['CORRUPT on 1c3dbc1266e7b820'], false]);
  });
});
