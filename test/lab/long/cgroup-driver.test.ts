/**
 * `runtime.cgroupDriver` edited on a live cluster: every host is drained, and all of its pods restart by the other driver, one host at a
 * time. kbuild is killed in the middle of the first way, and hosts can join after the second. The tests build on each other.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import { killedAtStep } from '../killed-at-step.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { expectWholeNodes, oneAfterAnother, spans } from '../rolled.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { startWorkload, watchService } from '../upgraded.ts';

const HOSTS = ['cgcp1', 'cgw1', 'cgw2'];
const LATER = ['cgcp2', 'cgw3'];
const [cp, w1, w2] = HOSTS as [string, string, string];
let cluster: Stacked;

async function withDriver(cgroupDriver: string): Promise<object> {
  const { runtime } = await lab.inventory(HOSTS);
  return { runtime: { ...(runtime as object), cgroupDriver } };
}

const onEach = (command: string): Promise<readonly string[]> =>
  Promise.all(HOSTS.map(async (host) => (await lab.inside(host, command)).stdout.trim()));
/** Where the containers of each host have their cgroups: `kubepods.slice` by systemd, `kubepods` by cgroupfs. */
const cgroups = (): Promise<readonly string[]> =>
  onEach('cat /proc/[0-9]*/cgroup 2>/dev/null | grep -oE "/kubepods(.slice)?/" | sort -u | tr -d "/\\n"');
const kubelets = (): Promise<readonly string[]> => onEach("sed -n 's/^cgroupDriver: //p' /var/lib/kubelet/config.yaml");

/** All is as before: nodes Ready, no note, the workload whole, nothing to do, and certificates agree. */
async function isWhole(): Promise<void> {
  await expectWholeNodes(cp, HOSTS);
  await expectSettled(cluster, HOSTS);
}

beforeAll(async () => {
  cluster = await stacked('drivers', 7496, HOSTS);
  ok(await cluster.up());
  await startWorkload(cp);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

describe('from systemd to cgroupfs', () => {
  test('cut off while the pods of the first worker restart: the other hosts keep their driver', async () => {
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods.slice'));
    await cluster.name(HOSTS, await withDriver('cgroupfs'));
    await killedAtStep(['up', cluster.file, '--yes', '--json'], 'pods-by-driver', w1);
    expect((await cgroups()).filter((_, at) => HOSTS[at] !== w1)).toEqual(['kubepods.slice', 'kubepods.slice']);
    expect((await kubelets()).filter((_, at) => HOSTS[at] !== w1)).toEqual(['systemd', 'systemd']);
  });

  test('is finished by the same command, the first worker without a second drain', async () => {
    const ran = ok(timed('the rest of the cgroup driver', await cluster.up('--json')));
    expect(spans(ran, 'drained')).toEqual(oneAfterAnother([w2, cp]));
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods'));
    expect(await kubelets()).toEqual(HOSTS.map(() => 'cgroupfs'));
    await isWhole();
  });
});

describe('from cgroupfs to systemd', () => {
  test('goes host by host, workers first, while a Service with a budget answers', async () => {
    await cluster.name(HOSTS, await withDriver('systemd'));
    const client = watchService(lab.hostSettings(cp).address);
    const ran = ok(timed('the cgroup driver of three hosts', await cluster.up('--json')));
    const gapMs = await client.stop();
    for (const step of ['drained', 'pods-by-driver', 'uncordoned'])
      expect(spans(ran, step), step).toEqual(oneAfterAnother([w1, w2, cp]));
    expect(spans(ran, 'kubelet-settings')).toEqual([]);
    expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(gapMs).toBeLessThan(15_000);
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods.slice'));
    await isWhole();
  });

  test('afterwards a control plane and a worker can join, and have the same driver', async () => {
    await expectJoins(cluster, HOSTS, LATER, await withDriver('systemd'));
    for (const host of LATER)
      expect((await lab.inside(host, "sed -n 's/^cgroupDriver: //p' /var/lib/kubelet/config.yaml")).stdout).toBe(
        'systemd\n',
      );
  });
});
