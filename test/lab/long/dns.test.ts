/**
 * Cluster DNS by the inventory: more pods, more memory and own zones reach a live cluster though kbuild is killed at every change, a
 * mistake in a zone never reaches it, an upgrade keeps all, and what leaves the inventory is taken back.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild, start } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['dncp1', 'dnw1'];
const [cp, w] = HOSTS as [string, string];
const [OLD, NEW] = KUBERNETES;
/** The kubelet brings a changed ConfigMap within 2 minutes, and CoreDNS reads it within 45 s. */
const PATIENCE_MS = 300_000;
const MINE = {
  replicas: 3,
  resources: { limits: { memory: '200Mi' } },
  blocks: { 'corp.example.com': 'errors\nhosts {\n  10.9.8.7 app.corp.example.com\n}\n' },
};
let args: readonly string[];
let file: string;
/** The Corefile as kubeadm wrote it. */
let kubeadms: string;

type Plain = Readonly<Record<string, object>>;
const edit = (change: (plain: Plain) => object): void => {
  const plain = parse(readFileSync(file, 'utf8')) as Plain;
  writeFileSync(file, stringify(change(plain), { aliasDuplicateObjects: false }));
};

const corefile = (): Promise<string> =>
  kubectl(cp, `-n kube-system get configmap coredns -o 'jsonpath={.data.Corefile}'`);
const deployment = (): Promise<string> =>
  kubectl(
    cp,
    `-n kube-system get deployment coredns -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].resources.limits.memory}'`,
  );
const trials = (): Promise<string> => kubectl(cp, '-n kube-system get pods -l app=kbuild-dns-trial -o name');
const ask = async (name: string): Promise<string> =>
  (await lab.inside(w, `dig +short +time=2 +tries=1 @10.96.0.10 ${name}`)).stdout.trim();
/** Waits until CoreDNS gives the address of a name. */
const answers = (name: string, address: string): Promise<unknown> =>
  waitUntil(`CoreDNS answers for ${name}`, PATIENCE_MS, async () => (await ask(name)) === address);

async function hasMine(): Promise<void> {
  await kubectl(cp, '-n kube-system rollout status deployment coredns --timeout 300s');
  expect(await deployment()).toBe('3 200Mi');
  expect(await corefile()).toContain(`${kubeadms.trimEnd()}\n# Begin of dns.blocks.`);
  expect(await trials()).toBe('');
  await answers('app.corp.example.com', '10.9.8.7');
  await answers('kubernetes.default.svc.cluster.local', '10.96.0.1');
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
}

beforeAll(async () => {
  ({ up: args, file } = await fresh('dns', HOSTS, ({ kubernetes }) => ({
    packages: ['bind9-dnsutils'],
    kubernetes: { ...(kubernetes as object), version: OLD.version },
  })));
  ok(await kbuild(...args));
  kubeadms = await corefile();
});

afterAll(() => lab.down(HOSTS));

test('pods, memory and a zone reach the cluster, though kbuild is killed at every change', async () => {
  edit((plain) => ({ ...plain, dns: MINE }));
  const { stdout } = ok(await kbuild('plan', file, '--diff'));
  console.log(stdout);
  expect(stdout).toContain('apply the edited settings of dns to the live cluster (found CoreDNS with replicas 2');
  expect(stdout).toContain('+ corp.example.com {');
  const { made } = await killedAtChanges(args);
  expect(made.join('\n')).toContain('write dns.blocks into the Corefile (found none)');
  await hasMine();
});

test('killed while a pod tries a zone: the same command goes on, and no pod is left', async () => {
  const more = { ...MINE.blocks, 'lab.example.com': 'errors\nhosts {\n  10.9.8.6 app.lab.example.com\n}\n' };
  edit((plain) => ({ ...plain, dns: { ...MINE, blocks: more } }));
  // No node takes the pod, so that it is there when kbuild is killed.
  await kubectl(cp, `cordon ${HOSTS.join(' ')}`);
  const running = start(args);
  await waitUntil('a pod tries the Corefile', PATIENCE_MS, async () => (await trials()) !== '');
  running.kill('SIGKILL');
  expect((await running.ended).code).toBe(null);
  await kubectl(cp, `uncordon ${HOSTS.join(' ')}`);
  ok(await kbuild(...args));
  expect(await trials()).toBe('');
  await answers('app.lab.example.com', '10.9.8.6');
});

test('a zone that CoreDNS does not accept stays out of the cluster, and its own words say why', async () => {
  const before = await corefile();
  edit((plain) => ({ ...plain, dns: { ...MINE, blocks: { ...MINE.blocks, 'bad.example.com': 'forwrd . 10.0.0.1' } } }));
  const { code, stdout, stderr } = await kbuild(...args);
  console.log(stderr);
  expect(code, stdout + stderr).toBe(4);
  expect(stdout + stderr).toMatch(
    /a pod of CoreDNS is not ready with dns\.blocks after \d+ s: [^]*Unknown directive 'forwrd'/,
  );
  expect(await corefile()).toBe(before);
  expect(await trials()).toBe('');
  await answers('kubernetes.default.svc.cluster.local', '10.96.0.1');
  edit((plain) => ({ ...plain, dns: MINE }));
  ok(await kbuild(...args));
  await hasMine();
});

test('what an operator changes in the cluster is drift, and up sets it back', async () => {
  await kubectl(cp, '-n kube-system scale deployment coredns --replicas 1');
  expect(ok(await kbuild('plan', file)).stdout).toContain(
    'apply the settings of dns to the live cluster (found CoreDNS with replicas 1)',
  );
  ok(await kbuild(...args));
  await hasMine();
});

test('an upgrade keeps all of it', async () => {
  edit((plain) => ({ ...plain, kubernetes: { ...plain['kubernetes'], version: NEW.version } }));
  ok(await kbuild('upgrade', ...args.slice(1)));
  expect(await kubectl(cp, `get node ${cp} -o 'jsonpath={.status.nodeInfo.kubeletVersion}'`)).toBe(`v${NEW.version}`);
  await hasMine();
});

test("what leaves the inventory is taken back: kubeadm's pods, memory and Corefile", async () => {
  edit((plain) => Object.fromEntries(Object.entries(plain).filter(([name]) => name !== 'dns')));
  ok(await kbuild(...args));
  await kubectl(cp, '-n kube-system rollout status deployment coredns --timeout 300s');
  expect(await deployment()).toBe('2 170Mi');
  expect((await corefile()).trimEnd()).toBe(kubeadms.trimEnd());
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
});
