/** What `status` calls healthy, and what it says with exit 5: registries, conditions, cordons, taints, API servers. */
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LabFinding } from '../findings.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { GATEWAY } from '../network-plan.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1] = ['rhcp1', 'rhw1'] as const;
const HOSTS = [cp, w1];
/** A registry whose storage is broken. */
const PORT = 7541;

interface StatusDocument {
  readonly healthy: boolean;
  readonly version: string;
  readonly problems: readonly { readonly kind: string; readonly name: string; readonly message: string }[];
  readonly nodes: readonly { readonly name: string; readonly cordoned: boolean; readonly taints: readonly string[] }[];
}

let inventory: lab.LabInventory;
let folder: string;
let file: string;
let broken: Server;

const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'health.kubeconfig'), ...flags);
/** `status` as text and as JSON, which must exit alike. */
async function status(): Promise<{
  readonly code: number | null;
  readonly text: string;
  readonly json: StatusDocument;
}> {
  const [text, json] = await Promise.all([kbuild('status', file), kbuild('status', file, '--json')]);
  expect(text.code, `${text.stdout}\n${text.stderr}`).toBe(json.code);
  return { code: text.code, text: text.stdout, json: JSON.parse(json.stdout) as StatusDocument };
}
const problems = async (): Promise<readonly string[]> =>
  (await status()).json.problems.map(({ name, message }) => `${name}: ${message}`);

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'health' };
  ({ folder, file } = inventoryFile(inventory));
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  broken = createServer((_, answer) => answer.writeHead(500).end());
  await new Promise<void>((resolve) => broken.listen(PORT, GATEWAY, resolve));
});
afterAll(async () => {
  broken.close();
  await lab.down(HOSTS);
});

test('a registry that answers 500 is one finding a host, named as that', async () => {
  const runtime = inventory['runtime'] as { readonly registries: readonly { readonly host: string }[] };
  const registries = runtime.registries.map(({ host }) => ({ host, mirrors: [`http://${GATEWAY}:${String(PORT)}`] }));
  write({ ...inventory, runtime: { ...runtime, registries } });
  const ran = await kbuild('check', file, '--active', '--json');
  expect(ran.code, ran.stderr).toBe(6);
  const found = (JSON.parse(ran.stdout) as { findings: readonly (LabFinding & { remedy: string })[] }).findings;
  const failing = found.filter(({ check, severity }) => check === 'downloads' && severity === 'error');
  for (const host of HOSTS) {
    const its = failing.filter((one) => one.host === host);
    // One for each registry: registry.k8s.io, and ghcr.io of flannel.
    expect(its.length, JSON.stringify(its)).toBeLessThanOrEqual(2);
    expect(its[0]!.message).toContain(`http://${GATEWAY}:${String(PORT)}: answers with status 500`);
    expect(its[0]!.remedy).toContain(`mend http://${GATEWAY}:${String(PORT)}`);
  }
  write(inventory);
});

test('before there is a cluster, that is what the last line says', async () => {
  const { code, text, json } = await status();
  expect(code).toBe(5);
  expect(text.trimEnd().split('\n').at(-1)).toBe(`not healthy: health: there is no cluster on ${cp}`);
  expect(json).toMatchObject({ healthy: false, version: '' });
});

test('a new cluster is healthy: exit 0', async () => {
  ok(await up());
  const { code, text, json } = await status();
  expect(code, text).toBe(0);
  expect(text.trimEnd().split('\n').at(-1)).toBe('healthy');
  expect(json).toMatchObject({ healthy: true, problems: [] });
});

test('a cordon and a taint that nothing explains are exit 5 for status, and warnings of an up with nothing to do', async () => {
  await kubectl(cp, `cordon ${w1}`);
  await kubectl(cp, `taint nodes ${w1} maintenance=yes:NoSchedule`);
  expect(await problems()).toEqual([
    `${w1}: is cordoned: no new pods are scheduled there`,
    `${w1}: has the taint maintenance=yes:NoSchedule, which neither the inventory nor Kubernetes explains`,
  ]);
  expect((await status()).code).toBe(5);
  const ran = unchanged(await up());
  expect(ran.stderr).toContain(`${w1}: is cordoned`);
  expect(ran.stderr).toContain(`kubectl uncordon ${w1}`);
  await kubectl(cp, `uncordon ${w1}`);
  await kubectl(cp, `taint nodes ${w1} maintenance=yes:NoSchedule-`);
  expect((await status()).code).toBe(0);
});

test('an API server that is not ready is one line, with the same exit for text and JSON', async () => {
  await lab.inside(cp, 'mv /etc/kubernetes/manifests/etcd.yaml /root/');
  const apiIsSick = async () =>
    (await lab.inside(cp, 'curl -sk https://127.0.0.1:6443/readyz')).stdout.includes('[-]etcd failed');
  await waitUntil('the API server to miss its etcd', 120_000, apiIsSick);
  const { code, text, json } = await status();
  console.log(text);
  expect([3, 5]).toContain(code);
  const about = json.problems.map(({ message }) => message);
  expect(about.join('\n')).toMatch(/etcd|timed out|deadline/);
  for (const message of about) expect(message).not.toMatch(/\n|\[\+\]ping/);
  await lab.inside(cp, 'mv /root/etcd.yaml /etc/kubernetes/manifests/');
  await waitUntil('the cluster to be healthy again', 180_000, async () => (await status()).code === 0);
});

test('an API server that does not run is what the last line says, not that there is no cluster', async () => {
  await lab.inside(cp, 'mv /etc/kubernetes/manifests/kube-apiserver.yaml /root/');
  const refuses = async () => (await lab.inside(cp, 'curl -sk https://127.0.0.1:6443/readyz')).code !== 0;
  await waitUntil('the API server to end', 120_000, refuses);
  const { code, text } = await status();
  expect(code, text).toBe(5);
  expect(text.trimEnd().split('\n').at(-1)).toMatch(/^not healthy: health: its API does not answer: rhcp1: .*refused/);
  await lab.inside(cp, 'mv /root/kube-apiserver.yaml /etc/kubernetes/manifests/');
  await waitUntil('the cluster to be healthy again', 180_000, async () => (await status()).code === 0);
});

test('a worker under DiskPressure is exit 5, and a warning of plan; check says which threshold', async () => {
  const hosts = inventory.hosts.map((host) =>
    host.name === w1 ? { ...host, kubelet: { config: { evictionHard: { 'nodefs.available': '99%' } } } } : host,
  );
  write({ ...inventory, hosts });
  // It ends when the node is Ready, or with what the pressure keeps from starting: that depends on where CoreDNS runs.
  const { code: ended } = await up();
  console.log(`up with an eviction threshold above the free space ended with ${String(ended)}`);
  await waitUntil('DiskPressure', 120_000, async () =>
    (await problems()).some((line) => line.startsWith(`${w1}: has the condition DiskPressure (`)),
  );
  const { code, text } = await status();
  expect(code).toBe(5);
  expect(text).toMatch(new RegExp(`^ {2}${w1} +worker +yes, DiskPressure `, 'm'));
  const { stderr } = await kbuild('plan', file);
  expect(stderr).toContain(`${w1}: has the condition DiskPressure`);
  expect(stderr).toMatch(/below the kubelet's eviction threshold nodefs\.available 99%/);
});
