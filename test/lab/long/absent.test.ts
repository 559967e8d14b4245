/**
 * One of three control planes has no power: the inventory can still be changed where the absent host does not prevent it.
 * The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { stacked, type Stacked } from '../stacked.ts';

const CONTROLS = ['zcp1', 'zcp2', 'zcp3'];
const WORKER = 'zw1';
const HOSTS = [...CONTROLS, WORKER];
let cluster: Stacked;

/** The worker's label `disk`, as the API shows it. */
const label = async (): Promise<string> =>
  (
    await lab.inside(
      'zcp1',
      `kubectl --kubeconfig /etc/kubernetes/admin.conf get node ${WORKER} -o jsonpath='{.metadata.labels.disk}'`,
    )
  ).stdout;

/** The inventory from now on: a label of the worker, a manifest, and a setting of every scheduler. */
async function edit(disk: string, text: string, args: readonly object[] = []): Promise<void> {
  const { hosts, kubeadm } = (await lab.inventory(HOSTS)) as unknown as {
    readonly hosts: readonly { readonly name: string }[];
    readonly kubeadm?: object;
  };
  writeFileSync(
    join(cluster.file, '..', 'note.yaml'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'note', namespace: 'default' },
      data: { text },
    }),
  );
  await cluster.name(HOSTS, {
    hosts: hosts.map((host) => (host.name === WORKER ? { ...host, labels: { disk } } : host)),
    manifests: ['note.yaml'],
    kubeadm: { ...kubeadm, cluster: { scheduler: { extraArgs: args } } },
  });
}

beforeAll(async () => {
  cluster = await stacked('zabsent', 7473, HOSTS);
  await edit('ssd', 'one');
  timed('3 + 1', await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('without --dead, plan and up stop before anything is changed, and name the command that goes on', async () => {
  await edit('nvme', 'two', [{ name: 'v', value: '1' }]);
  await lab.kill(['zcp2']);
  for (const command of ['plan', 'up']) {
    const { code, stderr } = await cluster.run(command, ...(command === 'up' ? ['--yes'] : []));
    expect(stderr).toContain(`\`kbuild ${command} ${cluster.file} --dead zcp2\``);
    expect(code, stderr).toBe(3);
  }
  expect(await label()).toBe('ssd');
});

test('--dead refuses a name that the inventory does not have, and a host that answers', async () => {
  const unknown = await cluster.run('up', '--yes', '--dead', 'zcp22');
  expect(unknown.stderr).toContain('did you mean "zcp2"?');
  expect(unknown.code, unknown.stderr).toBe(2);
  const living = await cluster.run('plan', '--dead', 'zcp2,zcp3');
  expect(living.stderr).toContain('zcp3: refused: --dead says that this host is gone, and it answers');
  expect(living.code, living.stderr).toBe(7);
});

test('with --dead, the label and the manifest are changed, and what every control plane needs waits', async () => {
  const { code, stderr, seconds } = await cluster.up('--dead', 'zcp2');
  console.log(`up --dead: ${seconds.toFixed(1)} s\n${stderr.trim().split('\n').slice(-6).join('\n')}`);
  expect(code, stderr).toBe(3);
  expect(stderr).toContain('left out: zcp2 (does not answer)');
  expect(stderr).toContain('apply the edited settings of kubeadm.cluster to the live cluster');
  expect(await label()).toBe('nvme');
  const note = `kubectl --kubeconfig /etc/kubernetes/admin.conf get configmap note -o jsonpath='{.data.text}'`;
  expect((await lab.inside('zcp1', note)).stdout).toBe('two');
  // A busy machine may still have to wait for a control plane, but nothing is changed again.
  const again = await cluster.up('--dead', 'zcp2', '--json');
  expect(eventsOf(again).filter(({ kind }) => kind === 'changed')).toEqual([]);
  expect(again.code, again.stderr).toBe(3);
});

test('without quorum, --dead is refused with the arithmetic', async () => {
  await lab.kill(['zcp3']);
  const { code, stderr } = await cluster.run('up', '--yes', '--dead', 'zcp2,zcp3');
  expect(code, stderr).toBe(7);
  console.log(stderr.trim().split('\n').slice(-2).join('\n'));
  await lab.start(['zcp3']);
});

test('after the host is back, up does the rest, and plan is empty', async () => {
  await lab.start(['zcp2']);
  timed('the rest', await cluster.up());
  const { stdout } = ok(await cluster.run('plan', '--detailed-exitcode'));
  expect(stdout).toContain('nothing to do');
  for (const host of CONTROLS)
    expect(
      (await lab.inside(host, 'grep -c -- --v=1 /etc/kubernetes/manifests/kube-scheduler.yaml')).stdout.trim(),
    ).toBe('1');
});
