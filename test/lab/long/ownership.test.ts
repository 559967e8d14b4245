/**
 * Whose cluster it is, and which hosts may be changed: faults on one cluster of two control planes and two workers, one after the
 * other. Each ends with the same command, or with the one that the message names, and nothing is left to do afterwards.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { makeAuthority } from '../openssl.ts';
import { dial, kubectl, nodes, startEcho, stopEcho } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['yocp1', 'yocp2', 'yow1', 'yow2'];
const [cp1, cp2, w1, w2] = HOSTS as [string, string, string, string];
/** A machine on which nothing was ever built. */
const EMPTY = 'yow3';
const NAME = 'yown';
const MINUTES_MS = 60_000;
const CA = '/etc/kubernetes/pki/ca.crt';
let cluster: Stacked;
let folder: string;

interface HostEntry {
  readonly name: string;
  readonly address: string;
  readonly [key: string]: unknown;
}

/** The inventory with some hosts or settings changed, as a file of another name. */
function changed(
  file: string,
  change: (hosts: readonly HostEntry[]) => readonly HostEntry[],
  more: object = {},
): string {
  const plain = parse(readFileSync(cluster.file, 'utf8')) as { readonly hosts: readonly HostEntry[] };
  const path = join(folder, file);
  writeFileSync(path, stringify({ ...plain, hosts: change(plain.hosts), ...more }, { aliasDuplicateObjects: false }));
  return path;
}
const on = (file: string, ...args: readonly string[]): Promise<Ran> =>
  kbuild(...args, '-i', file, ...(args[0] === 'up' ? ['--yes', '--kubeconfig', cluster.kubeconfig] : []));
const inside = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout;

async function nothingToDo(): Promise<void> {
  // A container that restarted a moment ago may be waited for: no change.
  ok(await cluster.run('plan', '--detailed-exitcode'));
}

interface Node {
  readonly metadata: { readonly uid: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly taints?: readonly { readonly key: string }[] };
}
const node = async (name: string): Promise<Node> => JSON.parse(await kubectl(cp1, `get node ${name} -o json`)) as Node;
const ROLE = 'node-role.kubernetes.io/control-plane';

beforeAll(async () => {
  cluster = await stacked(NAME, 7591, HOSTS);
  folder = join(cluster.file, '..');
}, 10 * MINUTES_MS);

afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, EMPTY]);
});

test(
  'a control-plane join that is killed when its node is registered ends with role and taint',
  { timeout: 10 * MINUTES_MS },
  async () => {
    const running = cluster.startUp();
    await waitUntil(`the node ${cp2}`, 8 * MINUTES_MS, async () =>
      nodes(cp1).then(
        (known) => cp2 in known,
        () => false,
      ),
    );
    await lab.inside(cp2, "systemctl kill -s KILL 'kbuild-job-kubeadm-join*' || :");
    const ran = await running.ended;
    console.log(`the killed run ended with ${String(ran.code)}`);
    timed('the same command again', await cluster.up());
    const { metadata, spec } = await node(cp2);
    expect(metadata.labels).toHaveProperty([ROLE]);
    expect(spec.taints).toContainEqual(expect.objectContaining({ key: ROLE }));
    await nothingToDo();
  },
);

test('a control plane that lost its role and its taint gets them back', async () => {
  await kubectl(cp1, `label node ${cp2} ${ROLE}- node.kubernetes.io/exclude-from-external-load-balancers-`);
  await kubectl(cp1, `taint node ${cp2} ${ROLE}-`);
  timed('role and taint', await cluster.up());
  const { metadata, spec } = await node(cp2);
  expect(metadata.labels).toHaveProperty([ROLE]);
  expect(spec.taints).toContainEqual(expect.objectContaining({ key: ROLE }));
  await nothingToDo();
});

test('an inventory of another name is refused by every command that changes something', async () => {
  const other = changed('other.yaml', (hosts) => hosts, { name: 'yother' });
  const mine = join(folder, 'mine.db');
  ok(await cluster.run('etcd', 'snapshot', 'save', mine));
  for (const args of [
    ['up'],
    ['remove', w1, '--yes'],
    ['reset', '--yes-destroy', 'yother'],
    ['etcd', 'snapshot', 'save', join(folder, 'other.db')],
    ['etcd', 'snapshot', 'restore', mine, '--yes'],
    ['windows', 'selftest', '--os', 'linux'],
  ]) {
    const { code, stderr } = await on(other, ...args);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(7);
    expect(stderr).toContain(`"${NAME}"`);
    expect(stderr).not.toContain('kbuild reset');
  }
  expect(await nodes(cp1)).toEqual({ [cp1]: true, [cp2]: true, [w1]: true, [w2]: true });
  await nothingToDo();
});

test('a worker with the CA of another cluster: remove of several touches none, up goes on without it', async () => {
  const { cert } = await makeAuthority(folder, 'other-ca');
  await lab.inside(w2, `cp ${CA} /root/ca.crt; cat >${CA}`, readFileSync(cert, 'utf8'));
  const refused = await cluster.run('remove', w1, w2, '--yes');
  expect(refused.code, refused.stderr).toBe(7);
  expect(refused.stderr).toContain(`${w2}: refused: it belongs to another cluster`);
  expect(refused.stderr).toContain('a cluster may live there (a kubelet');
  expect((await nodes(cp1))[w1]).toBe(true);

  // What up leaves out is no drift that it would mend.
  const { stdout } = await cluster.run('status');
  expect(stdout).toContain(`${w2}: refused: it belongs to another cluster`);
  expect(stdout).not.toContain(`join ${w2}`);

  const labelled = changed('labelled.yaml', (hosts) =>
    hosts.map((host) => ([w1, w2].includes(host.name) ? { ...host, labels: { disk: 'ssd' } } : host)),
  );
  const { code, stderr } = await on(labelled, 'up');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(`left out: ${w2} (refused)`);
  expect((await node(w1)).metadata.labels).toHaveProperty('disk', 'ssd');
  expect((await node(w2)).metadata.labels).not.toHaveProperty('disk');

  await lab.inside(w2, `mv /root/ca.crt ${CA}`);
  timed('with the CA back', await cluster.up());
  await nothingToDo();
});

test(
  'an address that leads to an empty machine: the Ready node of the name stays',
  { timeout: 5 * MINUTES_MS },
  async () => {
    await lab.up([EMPTY]);
    await lab.reset([EMPTY]);
    const { hosts } = await lab.inventory([EMPTY]);
    const uid = (await node(w2)).metadata.uid;
    const wrong = changed(
      'wrong.yaml',
      (all) =>
        all.map((host) =>
          host.name === w2 ? { ...hosts[0], name: w2, role: 'worker' } : host,
        ) as readonly HostEntry[],
    );
    for (const args of [['up'], ['remove', w2, '--yes'], ['reset', '--hosts', w2, '--yes-destroy', w2]]) {
      const { code, stderr } = await on(wrong, ...args);
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(7);
      expect(stderr).toMatch(
        /its node is Ready on another machine \(10\S+, machine-id \w+\), and this host is 10\S+, machine-id \w+/,
      );
    }
    expect((await node(w2)).metadata.uid).toBe(uid);
    expect(await inside(EMPTY, 'ls /etc/kubernetes 2>/dev/null || :')).toBe('');
    await nothingToDo();
  },
);

test(
  'deleted nodes of a worker and of a control plane are registered again, and carry pods',
  { timeout: 8 * MINUTES_MS },
  async () => {
    const labelled = changed('labelled.yaml', (hosts) =>
      hosts.map((host) => (host.name === w1 ? { ...host, labels: { disk: 'ssd' } } : host)),
    );
    ok(await on(labelled, 'up'));
    await kubectl(cp1, `delete node ${w1} ${cp2}`);
    timed('registered again', await on(labelled, 'up'));
    expect(await nodes(cp1)).toEqual({ [cp1]: true, [cp2]: true, [w1]: true, [w2]: true });
    expect((await node(w1)).metadata.labels).toHaveProperty('disk', 'ssd');
    const { metadata, spec } = await node(cp2);
    expect(metadata.labels).toHaveProperty([ROLE]);
    expect(spec.taints).toContainEqual(expect.objectContaining({ key: ROLE }));
    ok(await on(labelled, 'plan', '--detailed-exitcode'));

    const pods = await startEcho(cp1, 'echo').catch(async (error: unknown) => {
      console.log(await kubectl(cp1, '-n echo get pods -o wide'), await kubectl(cp1, '-n echo get events'));
      throw error;
    });
    const at = (name: string) => pods.find((pod) => pod.node === name)!;
    for (const [from, to] of [
      [w1, w2],
      [w2, w1],
      [w1, cp2],
      [cp2, w2],
    ] as const)
      await waitUntil(`${from} reaches ${to}`, MINUTES_MS, async () =>
        dial(cp1, 'echo', at(from), at(to).ip).then(
          (answer) => answer === at(to).name,
          () => false,
        ),
      );
    await stopEcho(cp1, 'echo');
  },
);

test(
  'a lost admin.conf: drift on one of two control planes, a cluster that still lives on all of them',
  { timeout: 5 * MINUTES_MS },
  async () => {
    const ADMIN = '/etc/kubernetes/admin.conf';
    const SUPER = '/etc/kubernetes/super-admin.conf';
    await lab.inside(cp2, `rm ${ADMIN}`);
    const drift = await cluster.run('plan', '--detailed-exitcode');
    expect(drift.code, drift.stderr).toBe(10);
    expect(drift.stdout).toContain(`make ${ADMIN} of ${cp2} again`);
    timed('one of two', await cluster.up());
    expect((await nodes(cp2))[cp2]).toBe(true);
    await nothingToDo();

    // The founder's super-admin.conf shows the whole cluster.
    for (const host of [cp1, cp2]) await lab.inside(host, `rm ${ADMIN}`);
    const shown = ok(await cluster.run('plan'));
    expect(shown.stdout).toContain(`${cp1}, ${cp2}: make ${ADMIN} of HOST again`);
    expect(shown.stdout).not.toContain('kubeadm reset');
    timed('all, with super-admin.conf', await cluster.up());
    await nothingToDo();

    for (const host of [cp1, cp2]) await lab.inside(host, `rm -f ${ADMIN} ${SUPER}`);
    const status = await cluster.run('status');
    expect(status.code, status.stderr).not.toBe(0);
    expect(`${status.stdout}${status.stderr}`).toContain(
      `a control plane runs there, and its ${ADMIN} is gone; \`kbuild up\` makes it again`,
    );
    timed('all, with the key of the CA', await cluster.up());
    expect(await nodes(cp2)).toEqual({ [cp1]: true, [cp2]: true, [w1]: true, [w2]: true });
    await nothingToDo();
  },
);

test('the same on a single control plane', { timeout: 5 * MINUTES_MS }, async () => {
  timed('one control plane leaves', await cluster.run('remove', cp2, '--yes', '--no-drain'));
  await cluster.name([cp1, w1, w2]);
  ok(await cluster.up());
  await lab.inside(cp1, 'rm -f /etc/kubernetes/admin.conf /etc/kubernetes/super-admin.conf');
  for (const args of [
    ['remove', w1, '--yes'],
    ['etcd', 'snapshot', 'save', join(folder, 'none.db')],
  ]) {
    const { code, stderr } = await cluster.run(...args);
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain('`kbuild up` makes it again');
    expect(stderr).not.toContain('kbuild reset');
  }
  timed('a single control plane', await cluster.up());
  expect(await nodes(cp1)).toEqual({ [cp1]: true, [w1]: true, [w2]: true });
  await nothingToDo();
});
