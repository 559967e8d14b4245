/** Host groups and kernel settings on a live cluster: a host joins a group, the group is edited, and the host leaves it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';

const HOSTS = ['grcp1', 'grw1', 'grw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
let args: readonly string[];
let file: string;

interface Plain {
  readonly hosts: readonly { readonly name: string }[];
}

/** Writes the groups, and who is in `gpu`. */
function edit(groups: object, members: readonly string[]): void {
  const plain = parse(readFileSync(file, 'utf8')) as Plain;
  const hosts = plain.hosts.map((host) => ({ ...host, groups: members.includes(host.name) ? ['gpu'] : [] }));
  const edited = { ...plain, groups, hosts };
  writeFileSync(file, stringify(edited, { aliasDuplicateObjects: false }));
}

const GPU = {
  labels: { 'example.com/gpu': 'yes' },
  taints: [{ key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' }],
  kubelet: { config: { maxPods: 42 } },
  sysctls: { 'net.core.somaxconn': 8191 },
};

const somaxconn = async (host: string): Promise<string> =>
  (await lab.inside(host, 'cat /proc/sys/net/core/somaxconn')).stdout.trim();
const node = async (name: string) =>
  JSON.parse(await kubectl(cp, `get node ${name} -o json`)) as {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: { readonly taints?: readonly { readonly key: string }[] };
    readonly status: { readonly capacity: { readonly pods: string } };
  };

async function isEmpty(): Promise<void> {
  const { stdout, stderr, code } = await kbuild('plan', file, '--detailed-exitcode');
  expect(stdout, stderr).toBe('nothing to do\n');
  expect(code).toBe(0);
}

beforeAll(async () => {
  ({ up: args, file } = await fresh('groups', HOSTS));
  edit({ gpu: GPU }, [w1]);
  ok(await kbuild(...args));
});

afterAll(() => lab.down(HOSTS));

test('a host gets the labels, taints, kubelet and kernel settings of its group, and only that host', async () => {
  const [inGroup, other] = await Promise.all([node(w1), node(w2)]);
  expect(inGroup.metadata.labels['example.com/gpu']).toBe('yes');
  expect(inGroup.spec.taints?.map(({ key }) => key)).toEqual(['example.com/gpu']);
  expect(inGroup.status.capacity.pods).toBe('42');
  expect(await somaxconn(w1)).toBe('8191');
  expect(other.metadata.labels['example.com/gpu']).toBeUndefined();
  expect(other.status.capacity.pods).not.toBe('42');
  expect(await somaxconn(w2)).not.toBe('8191');
  await isEmpty();
});

test('a host that enters the group gets them, by the name of the group in --hosts', async () => {
  edit({ gpu: { ...GPU, sysctls: { 'net.core.somaxconn': 8190 } } }, [w1, w2]);
  const ran = ok(await kbuild(...args, '--hosts', 'gpu', '-v'));
  console.log(ran.stderr.split('\n').at(-2));
  for (const host of [w1, w2]) expect(await somaxconn(host)).toBe('8190');
  expect((await node(w2)).status.capacity.pods).toBe('42');
  await isEmpty();
});

test('a setting that was changed on the host is set back', async () => {
  await lab.inside(w2, 'echo 1000 > /proc/sys/net/core/somaxconn');
  const { stdout } = await kbuild('plan', file);
  expect(stdout).toContain('set net.core.somaxconn=8190 (found 1000)');
  ok(await kbuild(...args));
  expect(await somaxconn(w2)).toBe('8190');
});

test('a host that leaves the group loses them; the kernel keeps its value until the next boot, as the plan says', async () => {
  edit({ gpu: GPU }, [w1]);
  const { stdout } = await kbuild('plan', file);
  console.log(stdout);
  expect(stdout).toContain('the kernel keeps net.core.somaxconn until the next boot');
  ok(await kbuild(...args));
  const left = await node(w2);
  expect(left.metadata.labels['example.com/gpu']).toBeUndefined();
  expect(left.spec.taints).toBeUndefined();
  expect(left.status.capacity.pods).not.toBe('42');
  expect(await somaxconn(w2)).toBe('8190');
  await isEmpty();
});
