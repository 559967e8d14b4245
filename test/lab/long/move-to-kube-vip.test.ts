/** A control plane and a worker whose endpoint is the host's own address are led to a virtual address of kube-vip, while a client writes through the old endpoint. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isReady } from '../api-gap.ts';
import { startWriter } from '../api-writer.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import { buildKubeVip, withKubeVip } from '../kube-vip.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w] = ['kmcp1', 'kmw1'] as const;
const HOSTS = [cp, w];
const VIP = '10.77.0.233';
const NEW = `${VIP}:6443`;

let own: Fresh;
let kubeconfig: string;

const up = (): Promise<Ran> => kbuild(...own.up);
const move = (): Promise<Ran> =>
  kbuild('move-endpoint', NEW, '-i', own.file, '--yes', '--kubeconfig', join(own.folder, 'moved.conf'));

beforeAll(async () => {
  await buildKubeVip();
  // The move itself configures no mirror: hosts can get the image already.
  own = await fresh('moved-to-kube-vip', HOSTS, (plain) => ({ runtime: withKubeVip(plain, VIP)['runtime'] }));
  kubeconfig = join(own.folder, 'old.conf');
  ok(await up());
  copyFileSync(join(own.folder, 'admin.conf'), kubeconfig);
  const plain = await lab.inventory(HOSTS);
  const inventory = { ...plain, name: 'moved-to-kube-vip', ...withKubeVip(plain, VIP) };
  writeFileSync(own.file, stringify(inventory, { aliasDuplicateObjects: false }));
});
afterAll(async () => {
  await lab.down(HOSTS);
});

test('up refuses the new endpoint and names the command', async () => {
  const refused = await up();
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(`kbuild move-endpoint ${NEW}`);
});

test('the cluster is led there, and the client of the old endpoint has lost no write', async () => {
  const writer = startWriter(kubeconfig);
  const ran = await move();
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  timed('from the host’s own address to kube-vip', ran);
  console.log(`${String(acknowledged)} writes acknowledged, the longest gap was ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
  expect((await lab.inside(w, 'grep server: /etc/kubernetes/kubelet.conf')).stdout).toContain(`https://${NEW}`);
  expect(await kubectl(cp, '-n kube-system get cm kubeadm-config -o yaml')).toContain(`controlPlaneEndpoint: ${NEW}`);
});

test('then nothing is left to do, and both endpoints serve', async () => {
  unchanged(await move());
  unchanged(await up());
  const { address } = (await lab.inventory([cp])).hosts[0]!;
  expect([await isReady(address, 6443), await isReady(VIP, 6443)]).toEqual([true, true]);
  expect(await nodes(cp)).toEqual({ [cp]: true, [w]: true });
});

test.each([
  ['admin.conf', ['renew', 'admin.conf']],
  ['CA', ['renew-ca', 'ca']],
])('a renewed %s starts kube-vip again, which reads it only once', async (_, args) => {
  const running = async (): Promise<string> => (await lab.inside(cp, 'pgrep -x kube-vip')).stdout.trim();
  const before = await running();
  expect(before).toMatch(/^\d+$/);
  ok(await kbuild('certs', ...args, '-i', own.file, '--yes'));
  await waitUntil('the address serves again', 120_000, () => isReady(VIP, 6443));
  expect(await running()).not.toBe(before);
  unchanged(await up());
});

test('reset deletes the address that a killed kube-vip has left', async () => {
  const has = async (): Promise<boolean> => (await lab.inside(cp, 'ip -o addr show')).stdout.includes(` ${VIP}/32 `);
  const kill = 'systemctl stop kubelet && rm /etc/kubernetes/manifests/kube-vip.yaml && pkill -9 -x kube-vip';
  expect((await lab.inside(cp, kill)).code).toBe(0);
  expect(await has()).toBe(true);
  const ran = ok(await kbuild('reset', own.file, '--yes-destroy', 'moved-to-kube-vip'));
  expect(ran.stdout + ran.stderr).toContain(`delete the virtual address ${VIP}`);
  expect(await has()).toBe(false);
});
