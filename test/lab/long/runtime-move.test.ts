/** `runtime.name` edited on a live cluster: nodes change from containerd to CRI-O and back, one at a time, while a Service answers. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fresh, type Fresh } from '../fresh.ts';
import { crioRuntime, type LabInventory } from '../inventory.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { reported } from '../reported.ts';
import { expectWholeNodes, oneAfterAnother, spans, reportedRuntimes } from '../rolled.ts';
import { startWorkload, watchService } from '../upgraded.ts';

const HOSTS = ['mvcp1', 'mvw1', 'mvw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
const HALF_AN_HOUR = 30 * 60_000;
let own: Fresh;
let plain: LabInventory;
let runtime: object;

/** These hosts have CRI-O by the inventory, the others containerd. */
function nameCrio(...names: readonly string[]): void {
  const hosts = plain.hosts.map((host) => (names.includes(host.name) ? { ...host, runtime } : host));
  writeFileSync(own.file, stringify({ ...plain, name: 'moves', hosts }, { aliasDuplicateObjects: false }));
}
const up = (): Promise<Ran> => kbuild(...own.up, '--json');
const output = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();

/** The containers of Kubernetes that run on a host, by the process that watches each: shims of containerd, monitors of CRI-O. */
const watchers = (host: string): Promise<string> =>
  output(host, `for name in containerd-shim conmon; do echo "$name $(pgrep -c "^$name" || true)"; done`);
const endpoints = (host: string): Promise<string> =>
  output(
    host,
    "cd /var/lib/kubelet; sed -nE 's/^containerRuntimeEndpoint: *//p' config.yaml instance-config.yaml | sort -u",
  );
const unit = (host: string, name: string): Promise<string> =>
  output(host, `systemctl is-active ${name}; systemctl is-enabled ${name}; true`);

/** All is as before: nodes Ready, no note, the workload whole, and nothing to do. */
async function isWhole(): Promise<void> {
  await expectWholeNodes(cp, HOSTS);
  unchanged(await kbuild(...own.up));
}

/** The host runs its pods on CRI-O alone, and containerd is out of use. */
async function isOnCrio(host: string): Promise<void> {
  expect(await watchers(host)).toMatch(/^containerd-shim 0\nconmon [1-9]/);
  expect(await endpoints(host)).toBe('unix:///run/crio/crio.sock');
  expect(await unit(host, 'containerd')).toBe('inactive\ndisabled');
  expect(await output(host, 'grep -l kbuild /etc/containerd/config.toml; apt-mark showhold')).not.toContain(
    'containerd',
  );
}

beforeAll(async () => {
  runtime = await crioRuntime();
  own = await fresh('moves', HOSTS);
  plain = await lab.inventory(HOSTS);
  ok(await kbuild(...own.up));
  await startWorkload(cp);
}, 2 * HALF_AN_HOUR);
afterAll(() => lab.down(HOSTS));

describe('from containerd to CRI-O', () => {
  test('the plan shows the drain, and the old and the new socket', async () => {
    nameCrio(w1);
    const { stdout } = ok(await kbuild('plan', own.file, '--diff'));
    expect(stdout).toContain(`the container runtime of ${w1} changes from containerd to CRI-O`);
    expect(stdout).toContain(`end all pods of ${w1} on containerd, and start them on CRI-O`);
    expect(stdout).toContain('+ containerRuntimeEndpoint: unix:///run/crio/crio.sock');
    expect(stdout).toContain(`drain ${w1}`);
  });

  test('a run that is cut off while the pods move is finished by the same command, without a second drain', async () => {
    const client = watchService(lab.hostSettings(cp).address);
    const running = start([...own.up, '--json']);
    await reported(
      running,
      `the pods of ${w1}`,
      HALF_AN_HOUR,
      (event) => event.kind === 'changing' && event.step === 'runtime-moved' && event.host === w1,
    );
    running.kill('SIGKILL');
    await running.ended;
    const ran = ok(timed('the rest of the move', await up()));
    expect(spans(ran, 'drained')).toEqual([]);
    expect(await client.stop()).toBeLessThan(15_000);
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['containerd', 'cri-o', 'containerd']);
    await isOnCrio(w1);
    await isWhole();
  });

  test('the only control plane follows in one run, and no other host changes', async () => {
    nameCrio(w1, cp);
    const ran = ok(timed('the control plane', await up()));
    for (const step of ['drained', 'runtime-moved', 'uncordoned'])
      expect(spans(ran, step), step).toEqual(oneAfterAnother([cp]));
    expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['cri-o', 'cri-o', 'containerd']);
    await isOnCrio(cp);
    expect(await unit(w2, 'containerd')).toBe('active\nenabled');
    await isWhole();
  });
});

describe('back to containerd', () => {
  test('goes the same way, and CRI-O is out of use', async () => {
    nameCrio(cp);
    const ran = ok(timed('the worker back', await up()));
    expect(spans(ran, 'runtime-moved')).toEqual(oneAfterAnother([w1]));
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['cri-o', 'containerd', 'containerd']);
    expect(await watchers(w1)).toMatch(/^containerd-shim [1-9]\d*\nconmon 0$/);
    expect(await endpoints(w1)).toBe('unix:///run/containerd/containerd.sock');
    expect(await unit(w1, 'crio')).toBe('inactive\ndisabled');
    await isWhole();
  });

  test('other commands refuse a host that waits for its runtime', async () => {
    nameCrio(cp, w2);
    const ran = await kbuild('remove', w2, '--inventory', own.file, '--yes');
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain('only `kbuild up` changes the runtime of a joined host');
    nameCrio(cp);
    await isWhole();
  });
});
