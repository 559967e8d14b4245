/**
 * `kbuild reboot`: hosts that want it, all hosts, a run that is killed, a host that does not come back, and a cluster with one control
 * plane, whose API goes away with it. The tests build on each other.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf, start, type Ran, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { leftOnNodes, startWorkload, underLoad } from '../upgraded.ts';
import { waitUntil } from '../wait-until.ts';

const HALF_AN_HOUR = 1_800_000;

const bootIds = async (hosts: readonly string[]): Promise<readonly string[]> =>
  Promise.all(hosts.map(async (host) => (await lab.inside(host, 'cat /proc/sys/kernel/random/boot_id')).stdout.trim()));
/** Which of these hosts have restarted since. */
async function restarted(hosts: readonly string[], before: readonly string[]): Promise<readonly string[]> {
  const now = await bootIds(hosts);
  return hosts.filter((_, index) => now[index] !== before[index]);
}
/** How many times a host has booted. */
const boots = async (host: string): Promise<number> =>
  (JSON.parse((await lab.inside(host, 'journalctl --list-boots -o json')).stdout) as readonly unknown[]).length;
/** The hosts of a run's reboots, in their order. */
const rebooted = (ran: Pick<Ran, 'stdout'>): readonly string[] =>
  eventsOf(ran).flatMap((event) => (event.kind === 'changed' && event.step === 'rebooted' ? [event.host] : []));
const startReboot = ({ file }: Stacked, ...more: readonly string[]): Running =>
  start(['reboot', ...more, '-i', file, '--yes', '--json']);
/** Nothing of a run is left: no note on a host, no cordon, nothing to do. */
async function nothingLeft(cluster: Stacked, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    const { stdout } = await lab.inside(host, 'ls /var/lib/kbuild/reboot 2>/dev/null; true');
    expect(stdout, host).toBe('');
  }
  expect(await leftOnNodes(hosts[0]!)).toEqual([]);
  unchanged(await cluster.run('reboot'));
  unchanged(await cluster.up());
  await expectSettled(cluster, hosts);
}

describe('three control planes and two workers', () => {
  const HOSTS = ['rbcp1', 'rbcp2', 'rbcp3', 'rbw1', 'rbw2'];
  const LATER = ['rbcp4', 'rbw3'];
  const [, second, , w1, w2] = HOSTS as [string, string, string, string, string];
  let cluster: Stacked;

  beforeAll(async () => {
    cluster = await stacked('reboot', 7521, HOSTS);
    ok(await cluster.up());
    await startWorkload(HOSTS[0]!);
  });
  afterAll(async () => {
    cluster.balancer.close();
    await lab.down([...HOSTS, ...LATER]);
  });

  test('only the hosts that want it restart: workers first, and no acknowledged write is lost', async () => {
    unchanged(await cluster.run('reboot'));
    for (const host of [second, w1]) await lab.inside(host, 'touch /run/reboot-required');
    const { stdout } = ok(await cluster.run('reboot', '--plan'));
    expect(stdout).toContain(`reboot ${second} (wants a reboot`);
    expect(stdout).not.toContain(w2);
    const before = await bootIds(HOSTS);
    const { ran, written } = await underLoad(cluster, HOSTS[0]!, 'rebooted a worker and a control plane', () => {
      return startReboot(cluster).ended;
    });
    expect(rebooted(ran)).toEqual([w1, second]);
    expect(await restarted(HOSTS, before)).toEqual([second, w1]);
    expect(written.lost).toEqual([]);
    await nothingLeft(cluster, HOSTS);
  });

  test('if `--all` is killed, the same command restarts the rest, and no host twice', async () => {
    const before = await Promise.all(HOSTS.map(boots));
    const first = startReboot(cluster, '--all');
    await waitUntil('the first control plane goes down', HALF_AN_HOUR, () =>
      eventsOf({ stdout: first.printed().replace(/[^\n]*$/, '') }).some(
        (event) => event.kind === 'changing' && event.step === 'rebooted' && event.host.startsWith('rbcp'),
      ),
    );
    first.kill('SIGKILL');
    const cut = await first.ended;
    const { ran, written } = await underLoad(cluster, second, 'rebooted the rest', () => {
      return startReboot(cluster, '--all').ended;
    });
    expect(written.lost).toEqual([]);
    expect(rebooted(cut)).toEqual([w1, w2]);
    expect(rebooted(ran)).not.toContain(w1);
    expect(await Promise.all(HOSTS.map(boots))).toEqual(before.map((times) => times + 1));
    await nothingLeft(cluster, HOSTS);
  });

  test('while a host does not come back, no other goes down; it stays cordoned, and the same command goes on', async () => {
    await lab.inside(w1, 'systemctl disable kubelet');
    const before = await bootIds(HOSTS);
    const failed = await startReboot(cluster, w1, w2, '--all', '--timeout', '4m').ended;
    expect(failed.code, failed.stderr).not.toBe(0);
    expect(failed.stdout + failed.stderr).toContain(w1);
    expect(await restarted(HOSTS, before)).toEqual([w1]);
    expect(await leftOnNodes(HOSTS[0]!)).toContain(`${w1} is cordoned`);
    await lab.inside(w1, 'systemctl enable --now kubelet');
    expect(rebooted(ok(await startReboot(cluster, w1, w2, '--all').ended))).toEqual([w2]);
    await nothingLeft(cluster, HOSTS);
  });

  test('afterwards a control plane and a worker can join', async () => {
    await expectJoins(cluster, HOSTS, LATER);
  });
});

describe('one control plane', () => {
  const HOSTS = ['rbocp', 'rbow'];
  let cluster: Stacked;

  beforeAll(async () => {
    cluster = await stacked('rebootone', 7523, HOSTS);
    ok(await cluster.up());
  });
  afterAll(async () => {
    cluster.balancer.close();
    await lab.down(HOSTS);
  });

  test('its restart takes the API away and gives it back, in one run', async () => {
    const before = await bootIds(HOSTS);
    const ran = ok(await startReboot(cluster, '--all').ended);
    console.log(`one control plane and one worker: ${ran.seconds.toFixed(0)} s`);
    expect(rebooted(ran)).toEqual(['rbow', 'rbocp']);
    expect(await restarted(HOSTS, before)).toEqual(HOSTS);
    expect(await nodes('rbocp')).toEqual({ rbocp: true, rbow: true });
    await nothingLeft(cluster, HOSTS);
  });

  test('killed while the only control plane goes down, the same command ends the run, and the host restarts once', async () => {
    const before = await boots('rbocp');
    const first = startReboot(cluster, 'rbocp', '--all');
    await waitUntil('it goes down', HALF_AN_HOUR, () => first.printed().includes('"step":"rebooted"'));
    first.kill('SIGKILL');
    await first.ended;
    ok(await startReboot(cluster, 'rbocp', '--all').ended);
    expect(await boots('rbocp')).toBe(before + 1);
    await nothingLeft(cluster, HOSTS);
  });
});
