/** `runtime.cgroupDriver` edited on a live cluster: every host is drained, and all of its pods start anew by the other driver, one host at a time. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fresh, type Fresh } from '../fresh.ts';
import type { LabInventory } from '../inventory.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { reported } from '../reported.ts';
import { expectWholeNodes, oneAfterAnother, spans } from '../rolled.ts';
import { startWorkload, watchService } from '../upgraded.ts';

const HOSTS = ['cgcp1', 'cgw1', 'cgw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
const HALF_AN_HOUR = 30 * 60_000;
let own: Fresh;
let plain: LabInventory;

const withDriver = (cgroupDriver: string) => ({ runtime: { ...(plain['runtime'] as object), cgroupDriver } });
function nameDriver(cgroupDriver: string): void {
  const inventory = { ...plain, name: 'drivers', ...withDriver(cgroupDriver) };
  writeFileSync(own.file, stringify(inventory, { aliasDuplicateObjects: false }));
}
const up = (): Promise<Ran> => kbuild(...own.up, '--json');

const onEach = (command: string): Promise<readonly string[]> =>
  Promise.all(HOSTS.map(async (host) => (await lab.inside(host, command)).stdout.trim()));
/** Where the containers of each host have their cgroups: `kubepods.slice` by systemd, `kubepods` by cgroupfs. */
const cgroups = (): Promise<readonly string[]> =>
  onEach('cat /proc/[0-9]*/cgroup 2>/dev/null | grep -oE "/kubepods(.slice)?/" | sort -u | tr -d "/\\n"');
const kubelets = (): Promise<readonly string[]> => onEach("sed -n 's/^cgroupDriver: //p' /var/lib/kubelet/config.yaml");

/** All is as before: nodes Ready, no note, the workload whole, and nothing to do. */
async function isWhole(): Promise<void> {
  await expectWholeNodes(cp, HOSTS);
  expect(ok(await kbuild(...own.up)).stdout).toBe('nothing to do\n');
}

beforeAll(async () => {
  own = await fresh('drivers', HOSTS);
  plain = await lab.inventory(HOSTS);
  ok(await kbuild(...own.up));
  await startWorkload(cp);
});
afterAll(() => lab.down(HOSTS));

describe('from systemd to cgroupfs', () => {
  test('cut off while the pods of the first worker start anew: the other hosts keep their driver', async () => {
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods.slice'));
    nameDriver('cgroupfs');
    const running = start([...own.up, '--json']);
    await reported(
      running,
      `the pods of ${w1}`,
      HALF_AN_HOUR,
      (event) => event.kind === 'changing' && event.step === 'pods-by-driver' && event.host === w1,
    );
    running.kill('SIGKILL');
    await running.ended;
    expect((await cgroups()).filter((_, at) => HOSTS[at] !== w1)).toEqual(['kubepods.slice', 'kubepods.slice']);
    expect((await kubelets()).filter((_, at) => HOSTS[at] !== w1)).toEqual(['systemd', 'systemd']);
  });

  test('is finished by the same command, the first worker without a second drain', async () => {
    const ran = ok(timed('the rest of the cgroup driver', await up()));
    expect(spans(ran, 'drained')).toEqual(oneAfterAnother([w2, cp]));
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods'));
    expect(await kubelets()).toEqual(HOSTS.map(() => 'cgroupfs'));
    await isWhole();
  });
});

describe('from cgroupfs to systemd', () => {
  test('goes host by host, workers first, while a Service with a budget answers', async () => {
    nameDriver('systemd');
    const client = watchService(lab.hostSettings(cp).address);
    const ran = ok(timed('the cgroup driver of three hosts', await up()));
    const gapMs = await client.stop();
    for (const step of ['drained', 'pods-by-driver', 'uncordoned'])
      expect(spans(ran, step), step).toEqual(oneAfterAnother([w1, w2, cp]));
    expect(spans(ran, 'kubelet-settings')).toEqual([]);
    expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(gapMs).toBeLessThan(15_000);
    expect(await cgroups()).toEqual(HOSTS.map(() => 'kubepods.slice'));
    await isWhole();
  });
});
