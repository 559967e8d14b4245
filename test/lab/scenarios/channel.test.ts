/** The cluster asked over SSH's own channel: the same facts as by kubectl on the host, and kubectl where sshd forbids it. */
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LinuxFacts } from '../../../src/cluster/fleet/linux.ts';
import { observeCluster } from '../../../src/cluster/fleet/observe-cluster.ts';
import type { ClusterView } from '../../../src/cluster/fleet/view.ts';
import { observedObjects } from '../../../src/commands/objects.phases.ts';
import { ADMIN_CONF } from '../../../src/inventory/api-server.ts';
import type { LinuxHost } from '../../../src/inventory/inventory.ts';
import { loadInventory } from '../../../src/library.ts';
import { linuxRemote, type LinuxRemote } from '../../../src/ssh/linux.ts';
import { opensshDialler } from '../../../src/ssh/openssh.ts';
import { sshDialler } from '../../../src/ssh/ssh2.ts';
import { checked } from '../findings.ts';
import { inventoryFile, kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { kubectl } from '../pods.ts';

const HOSTS = ['chcp1', 'chw1'] as const;
const [cp] = HOSTS;
let inventory: lab.LabInventory;
let file: string;
let host: LinuxHost;

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'channel' };
  file = inventoryFile(inventory).file;
  const { code, stderr } = await kbuild('up', file, '--yes', '--kubeconfig', `${file}.kubeconfig`);
  expect(code, stderr).toBe(0);
  // Two observations at the same time differ while pods start.
  await kubectl(cp, 'wait --for=condition=Ready pod --all --all-namespaces --timeout=300s');
  const loaded = await loadInventory({ file });
  host = loaded.inventory.hosts.find(({ name }) => name === cp) as LinuxHost;
});

afterAll(() => lab.down(HOSTS));

/** Observes the cluster over one connection, by channels and by commands. */
async function bothWays(remote: LinuxRemote): Promise<readonly [ClusterView, ClusterView]> {
  const { inventory: loaded } = await loadInventory({ file });
  const facts = { kubernetesTraces: new Set([ADMIN_CONF]) } as unknown as LinuxFacts;
  const tools = { nowMs: Date.now, nonce: () => randomBytes(12).toString('hex') };
  const observe = (forward: LinuxRemote['forward'] | undefined) =>
    observeCluster(
      loaded,
      [{ os: 'linux', host, facts }],
      () => (command) => remote.ask(command),
      observedObjects(loaded),
      forward === undefined ? tools : { ...tools, forward: () => forward },
    );
  return Promise.all([observe((address, port) => remote.forward(address, port)), observe(undefined)]);
}

/** What of a view does not change by itself between two observations of a cluster at rest. */
function lasting(view: ClusterView): Readonly<Record<string, unknown>> {
  expect(view.state === 'up' ? 'up' : view).toBe('up');
  const fields = Object.fromEntries(Object.keys(view).map((name) => [name, Reflect.get(view, name) as unknown]));
  const members = (fields['members'] as readonly object[]).map((member) => ({ ...member, dbSize: 0, dbSizeInUse: 0 }));
  return { ...fields, nowMs: 0, members };
}

test.each(['ssh2', 'openssh'] as const)('%s: each fact is the same by channel and by kubectl', async (client) => {
  const options = { policy: 'strict', home: '/root' } as const;
  const dialler = client === 'ssh2' ? sshDialler(options) : opensshDialler(options);
  const remote = linuxRemote(host, await dialler.dial(host), { runId: 'channel' });
  try {
    const [channel, commands] = (await bothWays(remote)).map(lasting);
    expect(Object.keys(channel!).length).toBeGreaterThan(20);
    expect(channel).toEqual(commands);
    expect(channel).toMatchObject({ endpoint: 'ok', apiServers: new Map([[cp, 'ok']]) });
    expect(channel).not.toHaveProperty('detour');
  } finally {
    await remote.close();
    dialler.close();
  }
});

test('kbuild kubectl is kubectl: output, exit code, exec and port-forward, and leaves no file', async () => {
  const kubectl = (...args: readonly string[]) => kbuild('kubectl', '-i', file, '--', ...args);
  const nodes = await kubectl('get', 'nodes', '-o', 'name');
  expect([nodes.code, nodes.stdout, nodes.stderr]).toEqual([0, HOSTS.map((name) => `node/${name}\n`).join(''), '']);
  const missing = await kubectl('get', 'pod', 'not-there');
  expect([missing.code, missing.stdout]).toEqual([1, '']);
  expect(missing.stderr).toContain('pods "not-there" not found');
  const version = await kubectl('exec', '-n', 'kube-system', 'ds/kube-proxy', '--', 'kube-proxy', '--version');
  expect([version.code, version.stdout], version.stderr).toEqual([
    0,
    expect.stringMatching(/^Kubernetes v1\./) as string,
  ]);
  const status = await kubectl('exec', '-n', 'kube-system', 'ds/kube-proxy', '--', 'kube-proxy', '--no-such-flag');
  expect(status.code, status.stderr).not.toBe(0);
  const forwarding = start([
    'kubectl',
    '-i',
    file,
    '--',
    ...'port-forward -n kube-system deploy/coredns :9153'.split(' '),
  ]);
  await expect.poll(forwarding.printed, { timeout: 60_000 }).toMatch(/127\.0\.0\.1:\d+ ->/);
  const port = /127\.0\.0\.1:(\d+) ->/.exec(forwarding.printed())![1]!;
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('coredns_build_info');
  forwarding.kill('SIGTERM');
  await forwarding.ended;
  const left = readdirSync(process.env['XDG_RUNTIME_DIR'] ?? tmpdir()).filter((name) => name.startsWith('kbuild-api-'));
  expect(left).toEqual([]);
});

test('kbuild proxy serves only those who can read its kubeconfig, until it is interrupted', async () => {
  const proxy = start(['proxy', file]);
  await expect.poll(proxy.printed, { timeout: 60_000 }).toContain('export KUBECONFIG=');
  const path = /'(.*)'/.exec(proxy.printed())![1]!;
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  const kubectl = (env: NodeJS.ProcessEnv) =>
    promisify(execFile)('kubectl', ['get', '--raw', '/version'], { env: { ...process.env, ...env } });
  expect((await kubectl({ KUBECONFIG: path })).stdout).toContain('gitVersion');
  const other = `${path}.no-token`;
  writeFileSync(other, readFileSync(path, 'utf8').replace(/"token":"[^"]*"/, '"token":"x"'));
  await expect(kubectl({ KUBECONFIG: other })).rejects.toThrow(/token of its kubeconfig|logged in/);
  proxy.kill('SIGINT');
  expect((await proxy.ended).code).toBe(130);
  expect(existsSync(path)).toBe(false);
});

test('status --no-hosts shows the cluster through one control plane, and says what it did not observe', async () => {
  const { code, stdout } = await kbuild('status', file, '--no-hosts', '--json');
  expect(code, stdout).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    nodes: HOSTS.map((name) => ({ name, ready: true })),
    etcd: { members: [{ name: cp, healthy: true }] },
    notObserved: [HOSTS[1]],
    drift: [],
  });
  expect((await kbuild('status', file, '--no-hosts')).stdout).toContain(
    `drift was not looked for, and nothing on ${HOSTS[1]} (--no-hosts)`,
  );
});

test('status --watch shows a change of a node at once, and not when all hosts are observed again', async () => {
  const watch = start(['status', file, '--watch', '--json', '--every', '10m']);
  const shown = (): readonly string[] => watch.printed().split('\n').slice(0, -1);
  await expect.poll(() => shown().length, { timeout: 60_000 }).toBe(1);
  const cordoned = (line: string | undefined): unknown =>
    (JSON.parse(line ?? '{"nodes":[]}') as { nodes: { cordoned: boolean }[] }).nodes.map((node) => node.cordoned);
  await kbuild('kubectl', '-i', file, '--', 'cordon', HOSTS[1]);
  await expect.poll(() => cordoned(shown().at(-1)), { timeout: 60_000 }).toEqual([false, true]);
  await kbuild('kubectl', '-i', file, '--', 'uncordon', HOSTS[1]);
  await expect.poll(() => cordoned(shown().at(-1)), { timeout: 60_000 }).toEqual([false, false]);
  watch.kill('SIGINT');
  expect((await watch.ended).code).toBe(130);
});

test('where sshd forbids forwarding, kubectl observes the cluster, and check says it', async () => {
  const channel = await kbuild('plan', file);
  expect(channel.stdout).toContain('nothing to do');
  expect((await checked(inventory)).findings.filter(({ check }) => check === 'api-channel')).toEqual([]);
  await lab.inside(cp, `echo 'AllowTcpForwarding no' >>/etc/ssh/sshd_config && systemctl reload ssh`);
  const commands = await kbuild('plan', file);
  expect([commands.code, commands.stdout]).toEqual([channel.code, channel.stdout]);
  const said = (await checked(inventory)).findings.filter(({ check }) => check === 'api-channel');
  expect(said).toMatchObject([
    { severity: 'warning', host: cp, message: expect.stringContaining('prohibited') as string },
  ]);
  const refused = await kbuild('kubectl', '-i', file, '--', 'get', 'nodes');
  expect([refused.code, refused.stdout]).toEqual([3, '']);
  expect(refused.stderr).toContain('AllowTcpForwarding');
  await lab.inside(cp, `sed -i '/^AllowTcpForwarding no$/d' /etc/ssh/sshd_config && systemctl reload ssh`);
});
