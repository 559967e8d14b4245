/**
 * kube-vip for Services of type LoadBalancer: the real program, and a test that gives out the address in the place of its cloud provider. The
 * machine of the lab, which is no node, is answered by a worker, then by the other one when that dies; reset takes the address off.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { cutPower, powerOn } from '../host-power.ts';
import { kbuild } from '../kbuild.ts';
import { buildKubeVip, withKubeVipServices } from '../kube-vip.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { answersFromOutside, kubectl, nodes, startEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['kvscp1', 'kvsw1', 'kvsw2'] as const;
const HOSTS = [cp, w1, w2];
const NAMESPACE = 'echo';
const ADDRESS = '10.77.0.246';
const PATIENCE_MS = 300_000;
let up: readonly string[];
let file: string;
let plain: lab.LabInventory;

const write = (more: object): void =>
  writeFileSync(file, stringify({ ...plain, name: 'kube-vip-services', ...more }, { aliasDuplicateObjects: false }));

/** The hosts that have the address on an interface. */
async function holders(): Promise<readonly string[]> {
  const on = HOSTS.filter((host) => lab.isOn(host));
  const shown = await Promise.all(on.map(async (host) => (await lab.inside(host, 'ip -o addr show')).stdout));
  return on.filter((_, i) => shown[i]!.includes(` ${ADDRESS}/32 `));
}

beforeAll(async () => {
  await buildKubeVip();
  ({ up, file } = await fresh('kube-vip-services', HOSTS));
  plain = await lab.inventory(HOSTS);
});
afterAll(() => lab.down(HOSTS));

test('up makes a cluster with it, and a second run changes nothing', async () => {
  write(withKubeVipServices(plain, { lan: [`${ADDRESS}/32`] }));
  timed('1 control plane and 2 workers with kube-vip for Services', await kbuild(...up));
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  expect(await kubectl(cp, `-n kube-system get configmap kubevip -o 'jsonpath={.data.cidr-global}'`)).toBe(
    `${ADDRESS}/32`,
  );
  unchanged(await kbuild(...up));
});

test('a Service that was given an address is answered for by one worker alone', async () => {
  await startEcho(cp, NAMESPACE, 300);
  const outside = `-n ${NAMESPACE} expose service echo --name outside --port 80 --target-port 8080 --type LoadBalancer`;
  await kubectl(cp, outside);
  // What its cloud provider would do.
  await kubectl(cp, `-n ${NAMESPACE} annotate service outside kube-vip.io/loadbalancerIPs=${ADDRESS}`);
  await waitUntil('it has the address', PATIENCE_MS, async () => {
    const status = '-o jsonpath={.status.loadBalancer.ingress[*].ip}';
    return (await kubectl(cp, `-n ${NAMESPACE} get service outside ${status}`)) === ADDRESS;
  });
  await waitUntil('it answers', PATIENCE_MS, () => answersFromOutside(ADDRESS));
  const found = await holders();
  expect(found).toHaveLength(1);
  expect([w1, w2]).toContain(found[0]);
});

test('when that worker loses its power, the other one answers', async () => {
  const [last] = (await holders()) as [string];
  await cutPower(last);
  const start = performance.now();
  const other = last === w1 ? w2 : w1;
  await waitUntil(`${other} has the address`, PATIENCE_MS, async () => (await holders()).includes(other));
  await waitUntil('it answers', PATIENCE_MS, () => answersFromOutside(ADDRESS));
  console.log(`kube-vip for Services: ${((performance.now() - start) / 1000).toFixed(1)} s without an answer`);
  await powerOn(last);
  await waitUntil(`${last} is Ready`, PATIENCE_MS, async () => (await nodes(cp))[last] === true);
  unchanged(await kbuild(...up));
});

test('without the setting its pods go', async () => {
  write({});
  ok(await kbuild(...up));
  await waitUntil('no pod of it is left', PATIENCE_MS, async () => {
    return !(await kubectl(cp, '-n kube-system get pods -o name')).includes('kube-vip');
  });
  unchanged(await kbuild(...up));
});

test('reset leaves the address on no host', async () => {
  write(withKubeVipServices(plain, { lan: [`${ADDRESS}/32`] }));
  ok(await kbuild('reset', file, '--yes-destroy', 'kube-vip-services'));
  expect(await holders()).toEqual([]);
});
