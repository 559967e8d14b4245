/**
 * More experiments from reports of other people's hosts (docs/reliability.md), on one cluster of 1 + 1: a removed flag of the kubelet, ::1
 * alone, noexec, kubeadm's own end-to-end suite, a GPU operator's drop-in, a member that stays a learner, a kubelet out of reach, and an
 * upgrade's health Job that never ends.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checked, type LabFinding } from '../findings.ts';
import { type Fresh, fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import { kubeadmSuite } from '../kubeadm-e2e.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged, well } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { etcdctl } from '../stacked.ts';
import { KUBERNETES, VERSIONS } from '../versions.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOSTS = ['fhcp1', 'fhw1'] as const;
const [CP, WORKER] = HOSTS;
const NEXT = KUBERNETES[1].version;

const DROP_IN = '/etc/containerd/conf.d/99-nvidia.toml';
const RUNTIMES = 'plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia';
const OPERATORS = `version = 3\n[${RUNTIMES}]\nruntime_type = "io.containerd.runc.v2"\n[${RUNTIMES}.options]\nSystemdCgroup = true\n`;

let own: Fresh;

async function on(host: string, command: string, stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await lab.inside(host, command, stdin);
  if (code !== 0) throw new Error(`${host}: ${command}: ${stdout}${stderr}`);
  return stdout.trim();
}

const inventory = (): object => parse(readFileSync(own.file, 'utf8')) as object;
const of = (findings: readonly LabFinding[], ...names: readonly string[]): readonly string[] =>
  findings
    .filter(({ check }) => names.includes(check))
    .map(({ severity, check, host = '' }) => `${severity} ${check} ${host}`)
    .toSorted();
const found = async (...names: readonly string[]): Promise<readonly string[]> =>
  of((await checked(inventory())).findings, ...names);

/** A mount of a folder over itself, with `noexec`. */
const noexec = (host: string, folder: string): Promise<string> =>
  on(host, `mkdir -p ${folder} && mount --bind ${folder} ${folder} && mount -o remount,bind,noexec ${folder}`);

beforeAll(async () => {
  own = await fresh('field-hosts', HOSTS, ({ runtime }) => {
    const { config, ...rest } = runtime as { readonly config: object };
    return { runtime: { ...rest, config: { ...config, imports: ['/etc/containerd/conf.d/*.toml'] } } };
  });
});

afterAll(() => lab.down(HOSTS));

test('a flag in /etc/default/kubelet that the version does not have stops up before it changes the host', async () => {
  await on(WORKER, 'echo KUBELET_EXTRA_ARGS=--pod-infra-container-image=pause >/etc/default/kubelet');
  const ran = await kbuild(...own.up);
  expect(ran.code, ran.stderr).not.toBe(0);
  expect(ran.stderr).toMatch(
    new RegExp(`${WORKER}[^\\n]*/etc/default/kubelet gives the kubelet --pod-infra-container-image`),
  );
  expect(await on(WORKER, 'ls /etc/apt/sources.list.d /var/lib/kbuild 2>/dev/null; :')).not.toMatch(
    /kubernetes|kbuild/,
  );
  await on(WORKER, 'rm /etc/default/kubelet');
});

test('hosts with ::1 localhost alone, and a kubelet whose folder is noexec, are named and become a cluster', async () => {
  for (const host of HOSTS)
    await on(host, String.raw`sed -i '/^127\.0\.0\.1/d; /localhost/d' /etc/hosts; echo '::1 localhost' >>/etc/hosts`);
  await noexec(WORKER, '/var/lib/kubelet');
  await on(WORKER, 'mkdir -p /etc/containerd/conf.d');
  await on(WORKER, `cat >${DROP_IN}`, OPERATORS);
  expect(await found('local-names', 'executable-paths')).toEqual([
    `warning executable-paths ${WORKER}`,
    ...HOSTS.map((host) => `warning local-names ${host}`),
  ]);
  timed('a cluster with ::1 localhost alone', await kbuild(...own.up));
  expect(await nodes(CP)).toEqual({ [CP]: true, [WORKER]: true });
});

test("kubeadm's own end-to-end suite passes, but for what kbuild deletes on purpose", async () => {
  const { passed, said } = await kubeadmSuite(join(own.folder, 'admin.conf'));
  console.log(said);
  expect(passed, said).toBe(true);
  expect(said).toMatch(/ 0 Failed/);
});

test("a GPU operator's drop-in is in effect, a pod runs with its handler, and up leaves it alone", async () => {
  expect(await on(WORKER, `containerd config dump | grep -c 'runtimes.nvidia\\]'`)).toBe('1');
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'gpu', namespace: 'default' },
    spec: {
      runtimeClassName: 'nvidia',
      nodeName: WORKER,
      containers: [
        { name: 'gpu', image: `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`, args: ['pause'] },
      ],
    },
  };
  const handler = {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'nvidia' },
    handler: 'nvidia',
  };
  await kubectl(CP, 'apply -f -', [handler, pod].map((one) => stringify(one)).join('---\n'));
  await kubectl(CP, 'wait --for=condition=Ready pod/gpu --timeout=180s');
  unchanged(await kbuild(...own.up));
  expect(await on(WORKER, `cat ${DROP_IN}`)).toBe(OPERATORS.trim());
  await kubectl(CP, 'delete pod/gpu runtimeclass/nvidia --now');
});

test("what an operator writes into the configuration that is kbuild's own is drift, and taken back", async () => {
  const last = 'tail -n 1 /etc/containerd/config.toml';
  const before = await on(WORKER, last);
  await on(WORKER, 'echo "# of an operator" >>/etc/containerd/config.toml');
  expect((await kbuild('plan', own.file)).stdout).toMatch(new RegExp(`${WORKER}[\\s\\S]*containerd`));
  ok(await kbuild(...own.up));
  expect(await on(WORKER, last)).toBe(before);
  unchanged(await kbuild(...own.up));
});

test('a member that stays a learner is named with the command that removes it', async () => {
  await etcdctl(CP, 'member add lost --learner --peer-urls=https://10.255.255.1:2380');
  const { stdout } = await checked(inventory());
  const [, remove = ''] = /if no host joins now: kubectl ([^"]* member remove [0-9a-f]+)/.exec(stdout) ?? [];
  expect(await found('etcd-learners')).toEqual(['warning etcd-learners ']);
  await kubectl(CP, remove);
  expect(await found('etcd-learners')).toEqual([]);
});

test('a kubelet that the API server does not reach is named, and not called equal', async () => {
  expect(await found('kubelet-answers')).toEqual([]);
  const rule = 'INPUT -p tcp --dport 10250 -j DROP';
  await on(WORKER, `iptables -I ${rule}`);
  try {
    expect(await found('kubelet-answers')).toEqual([`warning kubelet-answers ${WORKER}`]);
  } finally {
    await on(WORKER, `iptables -D ${rule}`);
  }
});

/** No pod of kubeadm's Job before an upgrade is admitted. */
const DENIED = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-health-check' },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      validations: [{ expression: '!object.metadata.?generateName.orValue("").startsWith("upgrade-health-check")' }],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-health-check' },
    spec: { policyName: 'no-health-check', validationActions: ['Deny'] },
  },
];

test("the upgrade's health Job that never ends is named as the cause, and the same command goes on without it", async () => {
  const file = inventory() as { readonly kubernetes: object };
  const newer = { ...file, kubernetes: { ...file.kubernetes, version: NEXT } };
  writeFileSync(own.file, stringify(newer, { aliasDuplicateObjects: false }));
  // What an upgrade fetches first lies there, and its kubeadm is run from there where that may be.
  await noexec(CP, '/var/lib/kbuild');
  await kubectl(CP, 'apply -f -', DENIED.map((one) => stringify(one)).join('---\n'));
  await waitUntil('the policy is in force', PATIENCE_MS, async () => {
    const body = stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName: 'upgrade-health-check-', namespace: 'default' },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    });
    return kubectl(CP, 'create -f - --dry-run=server', body).then(
      () => false,
      (error: unknown) => /no-health-check/.test(String(error)),
    );
  });
  const args = ['upgrade', '-i', own.file, '--yes'];
  const stopped = await kbuild(...args);
  expect(stopped.code, stopped.stderr).not.toBe(0);
  expect(stopped.stderr).toMatch(/cause: the pod that kubeadm starts before an upgrade did not end in time/);
  await kubectl(CP, 'delete validatingadmissionpolicybinding,validatingadmissionpolicy no-health-check');
  timed(`upgrade to ${NEXT} with a noexec /var/lib/kbuild`, await kbuild(...args));
  const versions = await kubectl(CP, `get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'`);
  expect(versions).toBe(`v${NEXT} v${NEXT}`);
  expect(await on(WORKER, `cat ${DROP_IN}`)).toBe(OPERATORS.trim());
  await well(() => kbuild('status', own.file));
});
