/**
 * A small cluster whose inventory is edited after it was built: a runtime of the older major gives way, files that the API
 * server reads and the cgroup driver reach what runs, arguments that win over kbuild's are reported, and a repository without
 * images ends before anything is changed. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { nodes } from '../pods.ts';
import { KUBERNETES } from '../versions.ts';

const [cp, worker] = ['udcp1', 'udw1'] as const;
const HOSTS = [cp, worker];
const AUDIT = '/etc/kubernetes/audit-policy.yaml';
const policy = (level: string): string => `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: ${level} }]\n`;
let plain: lab.LabInventory;
let file: string;
let args: readonly string[];

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const up = (): Promise<Ran> => kbuild(...args);
/** Waits may be due at any moment of a busy machine; changes are not. */
async function nothingIsChanged(): Promise<void> {
  const events = eventsOf(ok(await kbuild(...args, '--json')));
  expect(events.filter(({ kind }) => kind === 'changed')).toEqual([]);
}

/** The inventory says this audit policy, and these other settings of its sections. */
function say(level: string, more: Readonly<Record<string, object>> = {}): void {
  const volume = { name: 'audit', hostPath: AUDIT, mountPath: AUDIT, readOnly: true, pathType: 'File' };
  const extraArgs = [
    { name: 'audit-policy-file', value: AUDIT },
    { name: 'audit-log-path', value: '-' },
  ];
  const sections = Object.fromEntries(
    Object.entries(more).map(([key, value]) => [key, { ...(plain[key] as object), ...value }]),
  );
  const inventory = {
    ...plain,
    name: 'edited',
    files: [{ hosts: 'control-plane', content: policy(level), path: AUDIT }],
    kubeadm: { ...(plain['kubeadm'] as object), cluster: { apiServer: { extraArgs, extraVolumes: [volume] } } },
    ...sections,
  };
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
}

beforeAll(async () => {
  ({ file, up: args } = await fresh('edited', HOSTS));
  plain = await lab.inventory(HOSTS);
  say('None');
});
afterAll(() => lab.down(HOSTS));

/** A containerd that refuses the newer configuration, as 1.6.32, 1.7.17 and newer of 1.x do; Debian's 1.6.20 does not. */
const REFUSES = `#!/bin/sh
if [ "$1" = config ] && grep -q '^version = 3' /etc/containerd/config.toml; then echo 'version 3 is not supported' >&2; exit 1; fi
if [ "$1" = --config ] && grep -q '^version = 3' "$2"; then echo 'version 3 is not supported' >&2; exit 1; fi
exec /usr/bin/containerd.real "$@"
`;

test('a host with containerd 1.6, which refuses the configuration of 2.x, gets 2.x and joins', async () => {
  await inside(
    worker,
    'apt-get -q update -o Dir::Etc::sourcelist=/etc/apt/sources.list.d/lab-debian.list -o Dir::Etc::sourceparts=-; DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends containerd; mv /usr/bin/containerd /usr/bin/containerd.real',
  );
  await lab.inside(worker, 'cat >/usr/bin/containerd; chmod 755 /usr/bin/containerd', REFUSES);
  expect(await inside(worker, 'containerd --version')).toMatch(/ v?1[.]6[.]/);
  timed('1 + 1, over containerd 1.6', await up());
  expect(await inside(worker, 'containerd --version')).toMatch(/ v?2[.]/);
  expect(await inside(worker, 'head -n 2 /etc/containerd/config.toml')).toContain('version = 3');
  expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
  await nothingIsChanged();
});

test('KUBELET_EXTRA_ARGS is reported with its flags and its file, and is no change', async () => {
  await inside(
    worker,
    `cp /etc/default/kubelet /root/ 2>/dev/null; echo 'KUBELET_EXTRA_ARGS="--max-pods=50 -v=2"' >/etc/default/kubelet`,
  );
  const { stdout, stderr } = await kbuild('plan', file);
  expect(stderr).toContain(
    '/etc/default/kubelet sets KUBELET_EXTRA_ARGS (--max-pods, -v), which wins over the inventory',
  );
  expect(stdout).not.toContain('kubelet');
  await inside(
    worker,
    'rm /etc/default/kubelet; mv /root/kubelet /etc/default/ 2>/dev/null; systemctl restart kubelet',
  );
});

test('an audit policy that is edited is read by the API server', async () => {
  say('Metadata');
  expect((await kbuild('plan', file)).stdout).toContain(`restart the API server of ${cp} (${AUDIT} changes)`);
  timed('audit policy', await up());
  const read = `cat "/proc/$(pgrep -x -o kube-apiserver)/root${AUDIT}"`;
  expect(await inside(cp, read)).toBe(policy('Metadata').trim());
  await nothingIsChanged();
});

test('an image repository without the images ends before a manifest names it', async () => {
  const manifests = 'cat /etc/kubernetes/manifests/*.yaml';
  const before = await inside(cp, manifests);
  say('Metadata', { kubernetes: { imageRepository: '10.77.0.1:5999/none' } });
  const ran = await kbuild(...args, '--phase', 'settings');
  expect(ran.code, ran.stderr).toBe(4);
  expect(await inside(cp, manifests)).toBe(before);
  say('Metadata');
  await nothingIsChanged();
});

test('while kubeadm notes a newer version than the API server runs, no newer kubelet is put onto any host', async () => {
  const [old, next] = KUBERNETES;
  const kubectl = 'kubectl --kubeconfig /etc/kubernetes/admin.conf';
  const note = (from: string, to: string) =>
    inside(
      cp,
      `${kubectl} -n kube-system get cm kubeadm-config -o yaml | sed 's/v${from}/v${to}/' | ${kubectl} replace -f -`,
    );
  await note(old.version, next.version);
  say('Metadata', { kubernetes: { version: next.version } });
  const { stdout, stderr } = await kbuild('plan', file);
  await note(next.version, old.version);
  say('Metadata');
  expect(stderr).toContain(
    `the API servers run different versions (${old.version} on ${cp}; kubeadm noted ${next.version}); packages stay at ${old.version}`,
  );
  expect(stdout).not.toContain('install');
});

test('another cgroup driver is mended by the same command: the pods of each host run by it', async () => {
  say('Metadata', { runtime: { cgroupDriver: 'cgroupfs' } });
  const found = await kbuild('check', file);
  expect(found.stdout + found.stderr).toContain('configures containerd and the kubelet for cgroupfs');
  timed('cgroup driver', await up());
  expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
  await nothingIsChanged();
});
