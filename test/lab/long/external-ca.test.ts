/**
 * An authority whose key no host and not kbuild ever sees: two control planes and a worker are built with a signing command,
 * a lying one is refused, what runs out is renewed, kubelets get their next certificates. The tests build on each other.
 */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { daysLeft } from '../etcd-leaf.ts';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { ageApiServer, ageKubeconfig, ageKubelet, makeSigner, type Signer } from '../signer.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['cacp1', 'cacp2', 'caw1'];
const FOUNDER = [
  'apiserver server',
  'apiserver-kubelet-client client',
  'admin.conf client',
  'controller-manager.conf client',
  'scheduler.conf client',
  'kubelet.conf client',
  'super-admin.conf client',
];
let folder: string;
let signer: Signer;
let cluster: Stacked;

const certificates = () => ({ certificates: { ca: { cert: signer.authority.cert, sign: signer.command } } });
const changedBy = (ran: Awaited<ReturnType<Stacked['up']>>): readonly string[] =>
  eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [`${event.host} ${event.step}`] : []));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-signer-'));
  signer = await makeSigner(folder);
  cluster = await stacked('calong', 7465, HOSTS, certificates());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
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
});

test("the authority's key is on no host and in no log, and keys of hosts stayed there", async () => {
  const line = readFileSync(signer.authority.key, 'utf8').split('\n')[1]!;
  expect(line.length).toBeGreaterThan(40);
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(
      host,
      `ls /etc/kubernetes/pki/ca.key /run/kbuild/signing 2>/dev/null; find /run/kbuild -name 'signed_*'; grep -rsl -e '${line}' /etc /run /var/lib/kubelet /var/lib/kbuild || true`,
    );
    expect(stdout, host).toBe('');
  }
  const { stdout: apiServers } = await lab.inside('cacp1', "sed -n '2p' /etc/kubernetes/pki/apiserver.key");
  for (const at of [join(cluster.file, '..'), folder])
    for (const name of readdirSync(at, { recursive: true, encoding: 'utf8' })) {
      if (!statSync(join(at, name)).isFile() || name === 'vault.key' || name.endsWith('.db')) continue;
      const text = readFileSync(join(at, name), 'utf8');
      expect(text.includes(line), name).toBe(false);
      expect(text.includes(apiServers.trim()), name).toBe(false);
    }
});

test('a second run has nothing to do', async () => {
  expect(timed('second run', await cluster.up()).stdout).toBe('nothing to do\n');
});

test('what has 10 days left is renewed with new keys, and used', async () => {
  await ageApiServer(signer, 'cacp2', 10);
  await ageKubeconfig(signer, 'cacp2', 'scheduler.conf', 10);
  const key = async () => (await lab.inside('cacp2', 'sha256sum /etc/kubernetes/pki/apiserver.key')).stdout;
  const scheduler = async () => (await lab.inside('cacp2', 'pgrep -x kube-scheduler')).stdout.trim();
  const [oldKey, oldScheduler] = [await key(), await scheduler()];
  expect(await daysLeft('cacp2', 'apiserver')).toBe(9);
  const ran = timed('renewed', await cluster.up('--json'));
  expect(changedBy(ran)).toEqual(['cacp2 control-plane-certificates']);
  expect(await daysLeft('cacp2', 'apiserver')).toBeGreaterThan(300);
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
  // As the documentation says: kubeadm's own authorities are kubeadm's to renew with.
  for (const own of ['etcd-server', 'apiserver-etcd-client', 'front-proxy-client'])
    expect(await lab.inside('cacp2', `kubeadm certs renew ${own}`), own).toMatchObject({ code: 0 });
  // It may wait until what was restarted has run for a while, and changes nothing.
  expect(changedBy(timed('after it', await cluster.up('--json')))).toEqual([]);
});

test('`up` signs the next certificate of a kubelet, and no other request', async () => {
  await kubectl('cacp1', 'apply -f -', await stranger());
  await kubectl('cacp1', 'certificate approve stranger');
  expect(timed('with a request of a stranger', await cluster.up()).stdout).toBe('nothing to do\n');
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
  expect(timed('after it', await cluster.up()).stdout).toBe('nothing to do\n');
});

test('edited settings reach a control plane that never had super-admin.conf', async () => {
  const { kubeadm } = (await lab.inventory(HOSTS)) as { readonly kubeadm?: { readonly cluster?: object } };
  await cluster.name(HOSTS, {
    kubeadm: {
      ...kubeadm,
      cluster: { apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h0m0s' }] } },
    },
  });
  timed('settings edited', await cluster.up());
  for (const host of ['cacp1', 'cacp2']) {
    const { stdout } = await lab.inside(
      host,
      'grep -h event-ttl /etc/kubernetes/manifests/kube-apiserver.yaml; ls /etc/kubernetes/*.conf',
    );
    expect(stdout, host).toContain('--event-ttl=2h0m0s');
    expect(stdout.includes('super-admin.conf'), host).toBe(host === 'cacp1');
  }
  expect(timed('after it', await cluster.up()).stdout).toBe('nothing to do\n');
});

test('a CA key on a host is refused: the inventory names another signer', async () => {
  await lab.inside('cacp1', 'touch /etc/kubernetes/pki/ca.key');
  const { code, stderr } = await cluster.up();
  await lab.inside('cacp1', 'rm /etc/kubernetes/pki/ca.key');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain("cacp1: refused: it has the key of the cluster's CA (/etc/kubernetes/pki/ca.key)");
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
