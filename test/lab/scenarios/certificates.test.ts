/**
 * The user's own CA, and control planes that get the certificates they share by copying: built, left alone, certificates renewed, another
 * CA refused.
 */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { daysLeft } from '../etcd-leaf.ts';
import { eventsOf, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged, well } from '../ok.ts';
import { signOld } from '../old-certificate.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { kubectl, nodes } from '../pods.ts';
import { ageApiServer, ageKubeconfig } from '../signer.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const HOSTS = ['hacp1', 'hacp2'];
let cluster: Stacked;
let mine: KeyPair;
let other: KeyPair;

const using = ({ cert, key }: KeyPair) => ({ distribution: 'copy', ca: { cert, key: `file:${key}` } });

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-ca-'));
  mine = await makeAuthority(folder, 'the-users-own');
  other = await makeAuthority(folder, 'another');
  cluster = await stacked('hacert', 7463, HOSTS, { certificates: using(mine) });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('two control planes are built with the CA of the user, and the second gets it from the first', async () => {
  const ran = ok(await cluster.up('--json', '--log-file', join(cluster.file, '..', 'up.log')));
  console.log(`2 control planes with a CA of the user's own, copied: ${ran.seconds.toFixed(1)} s`);
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('hacp2')).toEqual({ hacp1: true, hacp2: true });
  const ca = readFileSync(mine.cert, 'utf8');
  for (const host of HOSTS) expect((await lab.inside(host, 'cat /etc/kubernetes/pki/ca.crt')).stdout).toBe(ca);
});

test('the copies have the modes that kubeadm gives them, and are the same on both', async () => {
  const files = (host: string) =>
    lab.inside(
      host,
      'cd /etc/kubernetes/pki && stat -c "%a %U:%G %n" ca.* sa.* front-proxy-ca.* etcd/ca.* && sha256sum ca.* sa.* front-proxy-ca.* etcd/ca.*',
    );
  const [first, second] = await Promise.all(HOSTS.map(files));
  expect(second!.stdout).toBe(first!.stdout);
  expect(first!.stdout).toContain('600 root:root ca.key\n');
  expect(first!.stdout).toContain('600 root:root etcd/ca.key\n');
  expect(first!.stdout).toContain('644 root:root ca.crt\n');
});

test('nothing was uploaded, and no private key is in a log, in a job or on this machine', async () => {
  expect(await kubectl('hacp1', '-n kube-system get secrets -o name')).not.toContain('kubeadm-certs');
  const events = await kubectl('hacp1', '-n kube-system get events -o name');
  expect(events).not.toContain('kubeadm-certs');
  const { stdout: key } = await lab.inside(
    'hacp1',
    "sed -n '2p' /etc/kubernetes/pki/sa.key /etc/kubernetes/pki/etcd/ca.key",
  );
  const lines = key.trim().split('\n');
  expect(lines.every((line) => line.length > 40)).toBe(true);
  const folder = join(cluster.file, '..');
  const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !path.endsWith('.db'));
  expect(kept.length).toBeGreaterThan(1);
  for (const path of kept)
    for (const line of lines) expect(readFileSync(path, 'utf8').includes(line), path).toBe(false);
  for (const host of HOSTS) expect((await lab.inside(host, 'find /run/kbuild -name "pki_*"')).stdout).toBe('');
});

test('a second run has nothing to do', async () => {
  unchanged(await cluster.up());
});

/** What kubeadm says of a host's certificates: name and end. */
async function byKubeadm(host: string): Promise<readonly string[]> {
  const { stdout } = await lab.inside(host, 'kubeadm certs check-expiration -o json 2>/dev/null');
  const said = JSON.parse(stdout) as Record<
    'certificates' | 'certificateAuthorities',
    readonly { readonly name: string; readonly expirationDate: string; readonly missing?: boolean }[]
  >;
  return [...said.certificates, ...said.certificateAuthorities]
    .filter(({ missing }) => missing !== true)
    .map(({ name, expirationDate }) => `${name} ${new Date(expirationDate).toISOString()}`)
    .sort();
}

interface Shown {
  readonly host: string;
  readonly name: string;
  readonly expires: string;
  readonly serial: string;
  readonly renewedBy: string;
}
const shown = async (): Promise<readonly Shown[]> =>
  (JSON.parse(ok(await cluster.run('certs', '--json')).stdout) as { readonly certificates: readonly Shown[] })
    .certificates;

test('`certs` shows every certificate, and kubeadm agrees', async () => {
  const all = await shown();
  for (const host of HOSTS) {
    const here = all.filter((one) => one.host === host);
    expect(here.filter(({ renewedBy }) => renewedBy === 'kubelet').map(({ name }) => name)).toEqual(['kubelet-client']);
    const ofKubeadm = here.filter(({ name }) => !name.startsWith('kubelet'));
    expect(ofKubeadm.map(({ name, expires }) => `${name} ${expires}`).sort()).toEqual(await byKubeadm(host));
  }
});

const startedAt = async (host: string, component: string): Promise<string> =>
  kubectl(
    host,
    `-n kube-system get pod ${component}-${host} -o jsonpath={.status.containerStatuses[0].state.running.startedAt}`,
  );
const started = async (components: readonly string[]): Promise<readonly string[]> =>
  Promise.all(HOSTS.flatMap((host) => components.map((component) => startedAt(host, component))));

test('`up` renews what has 10 days left, and its port shows the new certificate when `up` returns', async () => {
  const old = { old: (request: string, days: number) => signOld(mine, request, days) };
  await ageApiServer(old, 'hacp2', 10);
  await ageKubeconfig(old, 'hacp2', 'scheduler.conf', 10);
  expect((await well(() => cluster.run('status'))).stdout).toContain('apiserver expires in 9 days');
  const ran = ok(await cluster.up('--json'));
  console.log(`2 certificates of a control plane renewed by up: ${ran.seconds.toFixed(1)} s`);
  expect(eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [`${event.host} ${event.step}`] : []))).toEqual([
    'hacp2 control-plane-certificates',
  ]);
  expect(await daysLeft('hacp2', 'apiserver')).toBeGreaterThan(300);
  const { address } = lab.hostSettings('hacp2');
  const { stdout } = await lab.inside(
    'hacp1',
    `echo | timeout 5 openssl s_client -connect ${address}:6443 2>/dev/null | openssl x509 -noout -checkend 8640000 || true`,
  );
  expect(stdout).toContain('will not expire');
});

test('`certs renew --all` renews every one with a new key, and restarts neither API server nor etcd', async () => {
  const [before, alive] = [await shown(), await started(['kube-apiserver', 'etcd'])];
  const keys = () => lab.inside('hacp1', 'cd /etc/kubernetes/pki && sha256sum *.key etcd/*.key');
  const keysBefore = (await keys()).stdout.split('\n');
  const ran = ok(await cluster.run('certs', 'renew', '--all', '--yes', '--kubeconfig', cluster.kubeconfig));
  console.log(`certificates of 2 control planes renewed, one after the other: ${ran.seconds.toFixed(1)} s`);
  const after = await shown();
  const same = after.filter(({ host, name, serial }) =>
    before.some((one) => one.host === host && one.name === name && one.serial === serial),
  );
  expect(same.filter(({ renewedBy }) => renewedBy === 'kbuild')).toEqual([]);
  expect(new Set(same.map(({ renewedBy }) => renewedBy))).toEqual(new Set(['you', 'kubelet', 'nobody']));
  // Authorities and the key of service accounts stay.
  const keysAfter = (await keys()).stdout.split('\n').filter((line) => keysBefore.includes(line));
  expect(keysAfter.map((line) => line.split(/\s+/)[1] ?? '').sort()).toEqual(
    ['', 'ca.key', 'etcd/ca.key', 'front-proxy-ca.key', 'sa.key'].sort(),
  );
  expect(await started(['kube-apiserver', 'etcd'])).toEqual(alive);
  for (const host of HOSTS)
    expect((await lab.inside(host, 'ls -d /run/kbuild/renewal /etc/kubernetes/*.kbuild-new 2>/dev/null')).stdout).toBe(
      '',
    );
  expect(ok(await kbuild('kubeconfig', cluster.file)).stdout).toBe(readFileSync(cluster.kubeconfig, 'utf8'));
  // On a quick machine the next run waits until what has restarted has run for 30 s. It changes nothing.
  expect(eventsOf(ok(await cluster.up('--json'))).filter(({ kind }) => kind === 'changed')).toEqual([]);
});

test('one name on one host renews no other', async () => {
  const before = await shown();
  ok(await cluster.run('certs', 'renew', 'front-proxy-client', '--hosts', 'hacp2', '--yes'));
  const renewed = (await shown()).filter(({ serial }) => !before.some((one) => one.serial === serial));
  expect(renewed.map(({ host, name }) => `${host} ${name}`)).toEqual(['hacp2 front-proxy-client']);
  const { code, stderr } = await cluster.run('certs', 'renew', 'ca', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain('"ca" is no certificate that kubeadm renews');
});

test('a name given to the API servers is in their certificates, one taken away is not, and nothing restarts', async () => {
  const alive = await started(['kube-apiserver', 'kube-controller-manager', 'etcd']);
  const [shows, lacks] = [/DNS:api\.example\.org/, /^(?!.*DNS:api\.example\.org)/s];
  const { kubeadm } = (await lab.inventory(HOSTS)) as unknown as { readonly kubeadm: object };
  for (const [certSANs, expected] of [
    [['api.example.org'], shows],
    [[], lacks],
  ] as const) {
    await cluster.name(HOSTS, {
      certificates: using(mine),
      kubeadm: { ...kubeadm, cluster: { apiServer: { certSANs } } },
    });
    const ran = ok(await cluster.up('--json'));
    const steps = eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [event.step] : []));
    // Whether kubeadm's settings are written before or after the second host is renewed is chance.
    expect(steps.toSorted()).toEqual(['api-server-names', 'api-server-names', 'kubeadm-settings']);
    for (const host of HOSTS) {
      const { address } = lab.hostSettings(host);
      const { stdout } = await lab.inside(
        host,
        `echo | timeout 5 openssl s_client -connect ${address}:6443 2>/dev/null | openssl x509 -noout -ext subjectAltName`,
      );
      expect(stdout).toMatch(expected);
      expect(stdout).toContain(address);
    }
  }
  expect(await started(['kube-apiserver', 'kube-controller-manager', 'etcd'])).toEqual(alive);
  unchanged(await cluster.up());
});

test('another CA in the inventory is refused', async () => {
  await cluster.name(HOSTS, { certificates: using(other) });
  const { code, stderr } = await cluster.up();
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(
    /certificates\.ca is sha256:\w{12}…, the cluster was made with sha256:\w{12}…, and Kubernetes cannot change it/,
  );
});
