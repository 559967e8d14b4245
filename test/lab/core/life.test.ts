/**
 * The life of one cluster: built from bare hosts while one worker fails, left alone by a second run, grown to three control planes by a
 * run that is killed, shrunk again, reset. The tests build on each other, in this order.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paths } from '../../../src/paths.ts';
import { eventsOf, kbuild } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { leftByReset } from '../left-by-reset.ts';
import { ok, timed, unchanged, well } from '../ok.ts';
import { dial, nodes, startEcho, stopEcho, type EchoPod } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { PATIENCE_MS } from '../wait-until.ts';

const [cp1, cp2, cp3, w1, w2] = ['lfcp1', 'lfcp2', 'lfcp3', 'lfw1', 'lfw2'] as const;
const HOSTS = [cp1, cp2, cp3, w1, w2];
const FIRST = [cp1, w1, w2];
const ALL_READY = { [cp1]: true, [cp2]: true, [cp3]: true, [w1]: true, [w2]: true };

let cluster: Stacked;

const inside = async (host: string, command: string): Promise<string> => {
  const ran = await lab.inside(host, command);
  expect(ran.code, `${host}: ${command}: ${ran.stderr}`).toBe(0);
  return ran.stdout.trim();
};
/** Hosts that a `--json` run changed. */
const changedHosts = (ran: { readonly stdout: string }): readonly string[] => [
  ...new Set(eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [event.host] : []))),
];

beforeAll(async () => {
  // kubeadm would wait for the kubelet that fails for 4 minutes.
  const timeouts = { kubeletHealthCheck: '60s' };
  const { kubeadm } = (await lab.inventory([])) as unknown as { readonly kubeadm: { readonly join: object } };
  const quick = { kubeadm: { ...kubeadm, join: { ...kubeadm.join, timeouts } } };
  cluster = await stacked('life', 7701, HOSTS, quick, { prepared: [cp2, cp3] });
  await cluster.name(FIRST);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('a plan of bare hosts names every change, and up makes no other; a worker that fails leaves the run', async () => {
  const broken = '/run/systemd/system/kubelet.service.d/99-broken.conf';
  const failing = `[Service]\\nExecStartPre=/bin/false\\n`;
  await inside(
    w2,
    `mkdir -p ${broken.replace(/\/[^/]*$/, '')}; printf '${failing}' >${broken}; systemctl daemon-reload`,
  );
  const { changes } = JSON.parse((await cluster.run('plan', '--json')).stdout) as {
    readonly changes: readonly { readonly host: string; readonly phase: string; readonly step: string }[];
  };
  const planned = new Set(changes.map(({ phase, host, step }) => `${phase}/${host}/${step}`));

  const ran = await cluster.up('--json');
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toMatch(/the end of the log of kubelet/);
  const made = eventsOf(ran).flatMap((event) =>
    event.kind === 'changed' ? [`${event.phase}/${event.host}/${event.step}`] : [],
  );
  expect(made.filter((one) => !planned.has(one))).toEqual([]);
  expect(await nodes(cp1)).toMatchObject({ [cp1]: true, [w1]: true });
  await inside(w2, `rm ${broken}; systemctl daemon-reload`);
});

test('the same command changes that worker alone', async () => {
  const ran = ok(await cluster.up('--json'));
  expect(changedHosts(ran)).toEqual([w2]);
  expect(await nodes(cp1)).toEqual({ [cp1]: true, [w1]: true, [w2]: true });
});

test('pods of all nodes reach each other, and a Service by its name', async () => {
  // A busy API server, or a busy pod, does not answer each request in time.
  const timeout = PATIENCE_MS;
  let pods: readonly EchoPod[] = [];
  await expect.poll(async () => (pods = await startEcho(cp1, 'carry', 300)), { timeout }).toHaveLength(FIRST.length);
  expect(pods.map(({ node }) => node).toSorted()).toEqual([...FIRST].toSorted());
  const answer = (from: EchoPod, host: string, port?: number) =>
    expect.poll(() => dial(cp1, 'carry', from, host, port), { timeout, message: `${from.node} → ${host}` });
  for (const from of pods) {
    for (const to of pods) await answer(from, to.ip).toBe(to.name);
    await answer(from, 'echo.carry.svc.cluster.local', 80).toBeDefined();
  }
  await stopEcho(cp1, 'carry');
});

test('a second run has nothing to do, and touches no host', async () => {
  const touched = `find /etc /usr /opt -xdev -newer /run/stamp -not -path '/etc/cni/*' 2>/dev/null | head`;
  for (const host of FIRST) await inside(host, 'touch /run/stamp');
  timed('up with nothing to do', unchanged(await cluster.up()));
  for (const host of FIRST) expect(await inside(host, touched), host).toBe('');
});

test('two control planes join; the run is killed while the first of them joins, and the same command ends the job', async () => {
  await cluster.name(HOSTS);
  await killedAtStep(['up', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig], 'kubeadm-join', cp2);
  const ran = timed('up after the kill', await cluster.up('--json'));
  expect(changedHosts(ran)).toContain(cp3);
  expect(await membersOf(cluster)).toEqual([cp1, cp2, cp3]);
  expect(await nodes(cp3)).toEqual(ALL_READY);
  for (const host of HOSTS) expect(await inside(host, `ls -A ${paths.marker} 2>/dev/null || true`), host).toBe('');
  unchanged(await cluster.up());
  expect((await well(() => cluster.run('status'))).stdout).toContain('no drift');
});

test('what would cost quorum is refused', async () => {
  // Frozen, not ended: the kubelet does not restart it.
  await inside(cp3, 'pkill -STOP -x etcd');
  const { code, stderr } = await cluster.run('remove', cp2, '--yes');
  await inside(cp3, 'pkill -CONT -x etcd');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('2 of 3 voters healthy, quorum 2');
});

test('the control plane that founded the cluster and a worker are removed, and the cluster goes on', async () => {
  await expect.poll(() => membersOf(cluster), { timeout: 300_000 }).toEqual([cp1, cp2, cp3]);
  timed('a control plane and a worker removed', await cluster.run('remove', cp1, w2, '--yes'));
  expect(await membersOf(cluster)).toEqual([cp2, cp3]);
  expect(Object.keys(await nodes(cp2)).toSorted()).toEqual([cp2, cp3, w1]);
  for (const host of [cp1, w2]) expect(await leftByReset(host), host).toBe('');
});

test('reset asks for the name of the cluster, and takes down all of it and nothing else', async () => {
  const mine = '/var/lib/kubelet-mine/z';
  await cluster.name([cp2, cp3, w1]);
  await inside(w1, `mkdir -p ${mine.replace(/\/[^/]*$/, '')}; printf y > ${mine}; iptables -w -N MINE`);
  expect((await kbuild('reset', cluster.file, '--yes-destroy', 'wrong')).code).toBe(2);
  timed('reset', await kbuild('reset', cluster.file, '--yes-destroy', 'life'));
  for (const host of [cp2, cp3, w1]) expect(await leftByReset(host), host).toBe('');
  expect(await inside(w1, `cat ${mine}; iptables -w -S MINE`)).toBe('y-N MINE');
  unchanged(await kbuild('reset', cluster.file, '--yes-destroy', 'life'));
});
