/**
 * The user's own authorities: those of the cluster and of etcd sign by commands, so that no host and not kbuild ever sees their keys; the
 * front proxy's is given with its key. Two control planes and a worker are built, a lying command is refused, what runs out is renewed,
 * kubelets get their next certificates, also when kbuild or its job is killed meanwhile. Then hosts join. The tests build on each other.
 */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byKbuild, byKubeadm } from '../authorities.ts';
import { daysLeft } from '../etcd-leaf.ts';
import { signOld } from '../old-certificate.ts';
import { eventsOf, start } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { makeAuthority, type KeyPair } from '../openssl.ts';
import { ageApiServer, ageKubeconfig, ageKubelet, ageLeaf, makeSigner, type Signer } from '../signer.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';
import { expectWholeFiles, firstPlaced } from '../whole-files.ts';

const HOSTS = ['cacp1', 'cacp2', 'caw1'];
const LATER = ['cacp3', 'caw2'];
const FOUNDER = [
  'apiserver server',
  'apiserver-kubelet-client client',
  'admin.conf client',
  'controller-manager.conf client',
  'scheduler.conf client',
  'kubelet.conf client',
  'super-admin.conf client',
];
/** What every member of etcd has, and the API server beside it. */
const OF_ETCD = [
  'apiserver-etcd-client client',
  'etcd-server peer',
  'etcd-peer peer',
  'etcd-healthcheck-client client',
];
let folder: string;
let signer: Signer;
let etcdSigner: Signer;
let frontProxy: KeyPair;
let cluster: Stacked;
/** Settings that were edited. */
let edited: object = {};

const certificates = () => ({
  certificates: {
    ca: { cert: signer.authority.cert, sign: signer.command },
    etcdCa: { cert: etcdSigner.authority.cert, sign: etcdSigner.command },
    frontProxyCa: { cert: frontProxy.cert, key: `file:${frontProxy.key}` },
  },
});
const changedBy = (ran: Awaited<ReturnType<Stacked['up']>>): readonly string[] =>
  eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [`${event.host} ${event.step}`] : []));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-signer-'));
  signer = await makeSigner(folder);
  etcdSigner = await makeSigner(mkdtempSync(join(tmpdir(), 'kbuild-etcd-signer-')));
  frontProxy = await makeAuthority(mkdtempSync(join(tmpdir(), 'kbuild-front-proxy-')), 'front-proxy');
  cluster = await stacked('calong', 7465, HOSTS, certificates());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test.each([
  [
    'another-authority',
    /cacp1: refused: the certificate apiserver of cacp1: certificates\.ca\.sign did not sign with certificates\.ca\.cert \(issuer: CN=another\)/,
  ],
  ['another-key', /the certificate apiserver of cacp1: certificates\.ca\.sign certified another public key/],
  [
    'locked',
    /the certificate apiserver of cacp1 was not signed: certificates\.ca\.sign: exit status 3\nthe token is locked/,
  ],
] as const)('a signer that lies (%s) founds nothing', async (lie, reason) => {
  signer.lie(lie);
  const { code, stderr } = await cluster.up();
  signer.lie();
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(reason);
  const left = await lab.inside(
    'cacp1',
    'ls -A /etc/kubernetes/pki /etc/kubernetes/*.conf /var/lib/kbuild 2>/dev/null',
  );
  expect(left.stdout).toBe('');
});

test('kbuild killed while certificates are signed, and the founder cut off in the middle of init: nothing is mistaken', async () => {
  const before = signer.asked().length;
  const first = cluster.startUp();
  await waitUntil('some certificates are signed', 300_000, () => signer.asked().length > before + 2);
  first.kill('SIGKILL');
  await first.ended;
  const second = cluster.startUp();
  await waitUntil('kubeadm init has begun', 300_000, async () => {
    const { code } = await lab.inside('cacp1', 'test -e /etc/kubernetes/manifests/kube-apiserver.yaml');
    return code === 0;
  });
  second.kill('SIGKILL');
  await lab.kill(['cacp1']);
  await second.ended;
  await lab.start(['cacp1']);
  const planned = await cluster.run('plan');
  expect(planned.stdout).toContain('undo a half-finished init of calong');
});

test('with an honest one the same command builds 2 control planes and 1 worker', async () => {
  timed(
    '2 control planes and 1 worker, signed elsewhere',
    await cluster.up('--log-file', join(cluster.file, '..', 'up.log')),
  );
  expect(await membersOf(cluster)).toEqual(['cacp1', 'cacp2']);
  expect(await nodes('cacp2')).toEqual({ cacp1: true, cacp2: true, caw1: true });
  expect(signer.asked().slice(-14).sort()).toEqual(
    [
      ...FOUNDER.map((one) => `calong cacp1 ${one}`),
      ...FOUNDER.slice(0, -1).map((one) => `calong cacp2 ${one}`),
      'calong caw1 kubelet.conf client',
    ].sort(),
  );
  expect(new Set(etcdSigner.asked())).toEqual(
    new Set(['cacp1', 'cacp2'].flatMap((host) => OF_ETCD.map((one) => `calong ${host} ${one}`))),
  );
});

test("etcd and API servers show certificates of the user's authorities", async () => {
  for (const host of ['cacp1', 'cacp2']) {
    const { stdout } = await lab.inside(
      host,
      `cd /etc/kubernetes/pki
for leaf in etcd/server etcd/peer etcd/healthcheck-client apiserver-etcd-client front-proxy-client; do openssl x509 -noout -issuer -in $leaf.crt; done
echo | openssl s_client -connect 127.0.0.1:2379 -cert etcd/healthcheck-client.crt -key etcd/healthcheck-client.key -CAfile etcd/ca.crt 2>/dev/null | grep -e '^issuer' -e 'Verify return'`,
    );
    expect(stdout.replaceAll(' = ', '='), host).toMatch(
      /^(?:issuer=CN=vault\n){4}issuer=CN=front-proxy\nissuer=CN=vault\nVerify return code: 0/,
    );
  }
  const { stdout: extension } = await lab.inside(
    'cacp1',
    'kubectl --kubeconfig /etc/kubernetes/admin.conf -n kube-system get configmap extension-apiserver-authentication -o jsonpath="{.data.requestheader-client-ca-file}" | openssl x509 -noout -subject',
  );
  expect(extension.replaceAll(' = ', '=')).toContain('CN=front-proxy');
});

test('the keys of authorities that sign are on no host and in no log, and keys of hosts stayed there', async () => {
  const lines = [signer, etcdSigner].map(({ authority }) => readFileSync(authority.key, 'utf8').split('\n')[1]!);
  expect(Math.min(...lines.map(({ length }) => length))).toBeGreaterThan(40);
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(
      host,
      `ls /etc/kubernetes/pki/ca.key /etc/kubernetes/pki/etcd/ca.key /run/kbuild/signing 2>/dev/null; find /run/kbuild -name 'signed_*'; grep -rsl ${lines.map((line) => `-e '${line}'`).join(' ')} /etc /run /var/lib/kubelet /var/lib/kbuild || true`,
    );
    expect(stdout, host).toBe('');
  }
  const { stdout: apiServers } = await lab.inside('cacp1', "sed -n '2p' /etc/kubernetes/pki/apiserver.key");
  for (const at of [join(cluster.file, '..'), folder])
    for (const name of readdirSync(at, { recursive: true, encoding: 'utf8' })) {
      if (!statSync(join(at, name)).isFile() || name === 'vault.key' || name.endsWith('.db')) continue;
      const text = readFileSync(join(at, name), 'utf8');
      expect(
        lines.filter((line) => text.includes(line)),
        name,
      ).toEqual([]);
      expect(text.includes(apiServers.trim()), name).toBe(false);
    }
});

test('a second run has nothing to do', async () => {
  unchanged(timed('second run', await cluster.up()));
});

test('what has 10 days left is renewed with new keys, and used', async () => {
  await ageApiServer(signer, 'cacp2', 10);
  await ageKubeconfig(signer, 'cacp2', 'scheduler.conf', 10);
  await ageLeaf(etcdSigner, 'cacp2', 'etcd/server', 10);
  await ageLeaf(etcdSigner, 'cacp2', 'apiserver-etcd-client', 10);
  await ageLeaf({ old: (request, left) => signOld(frontProxy, request, left) }, 'cacp2', 'front-proxy-client', 10);
  const key = async () => (await lab.inside('cacp2', 'sha256sum /etc/kubernetes/pki/apiserver.key')).stdout;
  const scheduler = async () => (await lab.inside('cacp2', 'pgrep -x kube-scheduler')).stdout.trim();
  const [oldKey, oldScheduler] = [await key(), await scheduler()];
  expect(await daysLeft('cacp2', 'apiserver')).toBe(9);
  const ran = timed('renewed', await cluster.up('--json'));
  expect(changedBy(ran)).toEqual(['cacp2 control-plane-certificates']);
  for (const leaf of ['apiserver', 'etcd/server', 'apiserver-etcd-client', 'front-proxy-client'])
    expect(await daysLeft('cacp2', leaf), leaf).toBeGreaterThan(300);
  expect(await key()).not.toBe(oldKey);
  await waitUntil('the scheduler runs anew', 60_000, async () => {
    const now = await scheduler();
    return now !== '' && now !== oldScheduler;
  });
  const { address } = lab.hostSettings('cacp2');
  await waitUntil('the API server shows its new certificate', 120_000, async () => {
    const { stdout } = await lab.inside(
      'cacp1',
      `echo | timeout 5 openssl s_client -connect ${address}:6443 2>/dev/null | openssl x509 -noout -checkend 8640000 || true`,
    );
    return stdout.includes('will not expire');
  });
  // As the documentation says: authorities with a key on the host are kubeadm's to renew with.
  expect(await lab.inside('cacp2', 'kubeadm certs renew front-proxy-client')).toMatchObject({ code: 0 });
  // It may wait until what was restarted has run for a while, and changes nothing.
  expect(changedBy(timed('after it', await cluster.up('--json')))).toEqual([]);
});

/** Certificates of a control plane that both authorities have signed have ten days left. */
async function age(host: string): Promise<void> {
  await ageApiServer(signer, host, 10);
  for (const name of ['scheduler.conf', 'controller-manager.conf']) await ageKubeconfig(signer, host, name, 10);
  await ageLeaf(etcdSigner, host, 'etcd/server', 10);
}

test('killed while certificates are signed, and at every change, `up` renews each control plane once', async () => {
  for (const host of ['cacp1', 'cacp2']) await age(host);
  const before = signer.asked().length;
  const first = cluster.startUp();
  await waitUntil('one is signed', 300_000, () => signer.asked().length > before);
  first.kill('SIGKILL');
  await first.ended;
  const { last, made } = await killedAtChanges(['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig]);
  ok(last);
  expect(made.filter((line) => line.includes('renew certificates'))).toHaveLength(2);
  expect(made).toEqual([...new Set(made)]);
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('a job that is killed when it has placed its first file is made up for by the next `up`', async () => {
  await age('cacp2');
  const seen = firstPlaced('cacp2', "systemctl kill --signal=KILL 'kbuild-job-renew-certificates*'");
  const ran = await start(['up', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig]).ended;
  await seen;
  expect(ran.code).not.toBe(0);
  ok(await cluster.up());
  for (const leaf of ['apiserver', 'etcd/server']) expect(await daysLeft('cacp2', leaf), leaf).toBeGreaterThan(300);
  await expectWholeFiles(HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('`up` signs the next certificate of a kubelet, and no other request', async () => {
  await kubectl('cacp1', 'apply -f -', await stranger());
  await kubectl('cacp1', 'certificate approve stranger');
  unchanged(timed('with a request of a stranger', await cluster.up()));
  ok(await cluster.run('plan', '--detailed-exitcode'));
  await ageKubelet(signer, 'caw1', 10);
  const pending = await waitUntil('the kubelet asks', 120_000, async () => {
    const all = await kubectl(
      'cacp1',
      'get csr -o jsonpath=\'{range .items[*]}{.spec.username} {.metadata.name} {.status.conditions[0].type}{"\\n"}{end}\'',
    );
    return all.split('\n').find((line) => /^system:node:caw1 .* Approved$/.test(line));
  });
  const name = pending.split(' ')[1]!;
  const planned = await cluster.run('plan');
  expect(planned.stdout).toContain(`sign the next client certificate of the kubelet on caw1 (found ${name} pending)`);
  const ran = timed('a kubelet renewed', await cluster.up('--json'));
  expect(changedBy(ran)).toEqual(['cacp1 kubelet-requests']);
  await waitUntil('the kubelet has its certificate', 60_000, async () => {
    const { stdout } = await lab.inside(
      'caw1',
      'openssl x509 -in /var/lib/kubelet/pki/kubelet-client-current.pem -noout -checkend 8640000 || true',
    );
    return stdout.includes('will not expire');
  });
  expect((await nodes('cacp1'))['caw1']).toBe(true);
  expect(await kubectl('cacp1', 'get csr stranger -o jsonpath={.status.certificate}')).toBe('');
  unchanged(timed('after it', await cluster.up()));
  ok(await cluster.run('plan', '--detailed-exitcode'));
});

test('edited settings reach a control plane that never had super-admin.conf', async () => {
  const { kubeadm } = (await lab.inventory(HOSTS)) as { readonly kubeadm?: { readonly cluster?: object } };
  edited = {
    kubeadm: {
      ...kubeadm,
      cluster: { apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h0m0s' }] } },
    },
  };
  await cluster.name(HOSTS, edited);
  timed('settings edited', await cluster.up());
  for (const host of ['cacp1', 'cacp2']) {
    const { stdout } = await lab.inside(
      host,
      'grep -h event-ttl /etc/kubernetes/manifests/kube-apiserver.yaml; ls /etc/kubernetes/*.conf',
    );
    expect(stdout, host).toContain('--event-ttl=2h0m0s');
    expect(stdout.includes('super-admin.conf'), host).toBe(host === 'cacp1');
  }
  unchanged(timed('after it', await cluster.up()));
  ok(await cluster.run('plan', '--detailed-exitcode'));
});

test('after all of it kubeadm and kbuild say the same of every certificate', async () => {
  const { stdout } = ok(await cluster.run('certs', '--json'));
  for (const host of ['cacp1', 'cacp2']) expect(byKbuild(stdout, host), host).toEqual(await byKubeadm(host));
});

test("another authority of etcd in the inventory is refused: it is not the cluster's", async () => {
  const other = await makeAuthority(folder, 'other-etcd');
  const given = certificates();
  await cluster.name(HOSTS, {
    ...edited,
    certificates: { ...given.certificates, etcdCa: { cert: other.cert, sign: etcdSigner.command } },
  });
  const { code, stderr } = await cluster.run('plan');
  await cluster.name(HOSTS, edited);
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(/calong: refused: certificates\.etcdCa is \S+, the cluster was made with/);
});

test('the key of an authority that signs elsewhere on a host is refused: the inventory names another signer', async () => {
  await lab.inside('cacp1', 'cp /etc/kubernetes/pki/front-proxy-ca.key /etc/kubernetes/pki/etcd/ca.key');
  const inner = await cluster.up();
  await lab.inside('cacp1', 'rm /etc/kubernetes/pki/etcd/ca.key');
  expect(inner.code, inner.stderr).toBe(7);
  expect(inner.stderr).toContain(
    'cacp1: refused: it has the key of the authority etcd-ca (/etc/kubernetes/pki/etcd/ca.key)',
  );
  await lab.inside('cacp1', 'touch /etc/kubernetes/pki/ca.key');
  const { code, stderr } = await cluster.up();
  await lab.inside('cacp1', 'rm /etc/kubernetes/pki/ca.key');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain("cacp1: refused: it has the key of the cluster's CA (/etc/kubernetes/pki/ca.key)");
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, HOSTS, LATER, edited);
});

/** A request for a node's certificate that no node made. */
async function stranger(): Promise<string> {
  const { stdout } = await lab.inside(
    'cacp1',
    'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj "/O=system:nodes/CN=system:node:caw1" 2>/dev/null',
  );
  return JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'stranger' },
    spec: {
      request: Buffer.from(stdout).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
}
