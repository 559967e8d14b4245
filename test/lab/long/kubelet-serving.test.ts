/**
 * `serverTLSBootstrap` on a live cluster: kubelets get serving certificates of the cluster, API servers verify them afterwards, and
 * what a node asks for beyond its own name and address is refused. Hosts join. Then all of it is taken back.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { kbuild } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['kscp1', 'ksw1'];
const LATER = ['kscp2', 'ksw2'];
const ALL = [...HOSTS, ...LATER];
const [cp, w] = HOSTS as [string, string];
let cluster: Stacked;
let args: readonly string[];
let file: string;

type Plain = Record<string, unknown> & {
  readonly kubelet?: { readonly config?: object };
  readonly hosts: readonly { readonly name: string; readonly address: string }[];
};
const plain = (): Plain => parse(readFileSync(file, 'utf8')) as Plain;

function edit(serverTLSBootstrap: boolean): void {
  const { kubelet, ...others } = plain();
  const config = Object.fromEntries(
    Object.entries({ ...kubelet?.config, serverTLSBootstrap }).filter(
      ([name]) => name !== 'serverTLSBootstrap' || serverTLSBootstrap,
    ),
  );
  writeFileSync(file, stringify({ ...others, kubelet: { ...kubelet, config } }, { aliasDuplicateObjects: false }));
}

const flag = async (host = cp): Promise<string> =>
  (await lab.inside(host, 'grep -o "kubelet-certificate-authority=.*" /etc/kubernetes/manifests/kube-apiserver.yaml'))
    .stdout;

/** The issuer of what the kubelet of a host shows. */
const issuer = async (host: string): Promise<string> =>
  (
    await lab.inside(
      host,
      'openssl s_client -connect "$(hostname -I | cut -d" " -f1):10250" </dev/null 2>/dev/null | openssl x509 -noout -issuer',
    )
  ).stdout;

/** One line of the logs of kube-proxy on each node, through its API server and kubelet. */
async function logs(): Promise<readonly string[]> {
  const pods = (await kubectl(cp, '-n kube-system get pods -l k8s-app=kube-proxy -o name')).trim().split('\n');
  return Promise.all(pods.map((pod) => kubectl(cp, `-n kube-system logs --tail 1 ${pod}`)));
}

beforeAll(async () => {
  cluster = await stacked('serving', 7487, HOSTS);
  ({ file } = cluster);
  args = ['up', file, '--yes', '--kubeconfig', cluster.kubeconfig];
  ok(await kbuild(...args));
});

afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('kubelets serve with certificates of their own until the inventory says otherwise', async () => {
  expect(await issuer(w)).toContain(`${w}-ca@`);
  expect(await flag()).toBe('');
});

test('plan names both: certificates that are approved, and API servers that verify them afterwards', async () => {
  edit(true);
  const { stdout, code } = await kbuild('plan', file, '--detailed-exitcode');
  console.log(stdout);
  expect(code).toBe(10);
  expect(stdout).toContain('have API servers verify the certificates of kubelets');
  expect(stdout).toContain('API server of kscp1');
});

test('up, killed at each of its changes, gives every kubelet its certificate and has API servers verify them', async () => {
  let failed = 0;
  let longest = 0;
  let since: number | undefined;
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      const from = performance.now();
      try {
        await logs();
        since = undefined;
      } catch {
        failed += 1;
        since ??= from;
        longest = Math.max(longest, performance.now() - since);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  const { made, kills } = await killedAtChanges(args);
  over.abort();
  await reading;
  console.log(`logs could not be read ${String(failed)} times, at most for ${(longest / 1000).toFixed(1)} s in a row`);
  expect(kills).toBeGreaterThan(2);
  const approved = made.findLastIndex((line) => line.includes('approve the serving certificate'));
  const verified = made.findIndex((line) => line.includes('verify the certificates of kubelets'));
  expect(approved).toBeGreaterThan(-1);
  expect(verified === -1 || verified > approved, made.join('\n')).toBe(true);
  for (const host of HOSTS) expect(await issuer(host)).toContain('CN = kubernetes');
  expect(await flag()).toBe('kubelet-certificate-authority=/etc/kubernetes/pki/ca.crt\n');
  for (const line of await logs()) expect(line).not.toBe('');
});

test('afterwards the plan is empty, and certs shows who renews them', async () => {
  const { stdout, stderr } = await kbuild('plan', file, '--detailed-exitcode');
  expect(stdout, stderr).toBe('nothing to do\n');
  expect((await kbuild('certs', file)).stdout).toMatch(/kubelet-server/);
});

test('a node that asks for the address of another gets nothing, and is named', async () => {
  const address = plain().hosts.find(({ name }) => name === cp)!.address;
  const request = `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null \
    -subj /O=system:nodes/CN=system:node:${w} -addext subjectAltName=DNS:${w},IP:${address} 2>/dev/null | base64 -w 0`;
  const made = await lab.inside(
    w,
    `kubectl --kubeconfig /etc/kubernetes/kubelet.conf create -f - <<END
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: not-mine }
spec:
  signerName: kubernetes.io/kubelet-serving
  usages: [digital signature, server auth]
  request: $(${request})
END`,
  );
  expect(made.code, made.stderr).toBe(0);
  const refused = await kbuild(...args);
  console.log(refused.stderr);
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(`its kubelet asks for IP:${address}`);
  expect(refused.stderr).toContain('in the request not-mine');
  expect(await kubectl(cp, 'get csr not-mine -o jsonpath={.status}')).toBe('{}');
  await kubectl(cp, 'delete csr not-mine');
});

test('a kubelet that asks anew, as it does when its certificate is near its end, is approved by the next up', async () => {
  await lab.inside(w, 'rm -f /var/lib/kubelet/pki/kubelet-server-*; systemctl restart kubelet');
  await waitUntil('a request', 120_000, async () => (await kubectl(cp, 'get csr')).includes('Pending'));
  const ran = ok(await kbuild(...args, '--json'));
  expect(ran.stdout).toContain(`approve the serving certificate of the kubelet of ${w}`);
  expect(ran.stdout).not.toContain('"kind":"unplanned"');
  expect(await issuer(w)).toContain('CN = kubernetes');
});

test('a control plane and a worker can join, and API servers verify their kubelets, too', async () => {
  const { kubelet } = plain();
  await expectJoins(cluster, HOSTS, LATER, { kubelet });
  expect(await flag('kscp2')).toBe(await flag());
  for (const host of LATER) expect(await issuer(host)).toContain('CN = kubernetes');
  expect(await logs()).toHaveLength(ALL.length);
});

test('taken out of the inventory, the flag goes first, then the certificates', async () => {
  edit(false);
  const { made } = await killedAtChanges(args);
  console.log(made.join('\n'));
  for (const host of ['kscp1', 'kscp2']) expect(await flag(host)).toBe('');
  for (const line of await logs()) expect(line).not.toBe('');
  await expectSettled(cluster, ALL);
});
