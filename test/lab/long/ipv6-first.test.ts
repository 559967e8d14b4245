/** Both families with IPv6 as the primary one: a worker that joins later, pods of all nodes that reach each other in each family. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { giveIpv6, ipv6Of, leftOfPods, nodeAddresses } from '../ipv6.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { tellPluginStart } from '../plugin-start.ts';
import { dial, kubectl, nodes, startEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['sixfcp1', 'sixfw1', 'sixfw2'] as const;
const HOSTS = [cp, w1, w2];
const NAMESPACE = 'echo';
const PATIENCE_MS = 300_000;
let up: readonly string[];
let file: string;

async function name(hosts: readonly string[]): Promise<void> {
  const plain = await lab.inventory(hosts);
  const inventory = {
    ...plain,
    name: 'six-first',
    network: { podSubnet: 'fd00:10:244::/56,10.244.0.0/16', serviceSubnet: 'fd00:10:96::/112,10.96.0.0/12' },
    hosts: plain.hosts.map((host) => ({ ...host, internalAddress: `${ipv6Of(host.name)},${host.address}` })),
  };
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
}

beforeAll(async () => {
  ({ up, file } = await fresh('six-first', HOSTS, () => ({}), HOSTS));
  await giveIpv6(HOSTS);
});
afterAll(() => lab.down(HOSTS));

test('a control plane and a worker are built, and a second worker joins', async () => {
  await name([cp, w1]);
  timed('both families, IPv6 first, 1 + 1', await kbuild(...up));
  await name(HOSTS);
  timed('a second worker', await kbuild(...up));
  await tellPluginStart(cp, 'flannel', '-n kube-flannel -l app=flannel');
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  unchanged(await kbuild(...up));
});

test('each node has an address and a pod network of each family, IPv6 first', async () => {
  for (const host of HOSTS) {
    expect(await nodeAddresses(cp, host)).toEqual([ipv6Of(host), lab.hostSettings(host).address]);
    const networks = await kubectl(cp, `get node ${host} -o 'jsonpath={.spec.podCIDRs[*]}'`);
    expect(networks).toMatch(/^fd00:10:244:\S+ 10\.244\.\d+\.0\/24$/);
  }
  expect(await kubectl(cp, `get service kubernetes -o 'jsonpath={.spec.clusterIPs[*]}'`)).toBe('fd00:10:96::1');
});

test('every pod reaches every other one, and a Service, in each family', async () => {
  const pods = await startEcho(cp, NAMESPACE);
  await kubectl(
    cp,
    `-n ${NAMESPACE} patch service echo --type merge -p '{"spec":{"ipFamilyPolicy":"RequireDualStack"}}'`,
  );
  const listed = async (what: string): Promise<readonly string[]> =>
    (await kubectl(cp, `-n ${NAMESPACE} get ${what}`)).split(' ');
  const services = await listed(`service echo -o 'jsonpath={.spec.clusterIPs[*]}'`);
  expect(services.map((address) => address.includes(':'))).toEqual([true, false]);
  for (const from of pods) {
    for (const to of pods)
      for (const address of await listed(`pod ${to.name} -o 'jsonpath={.status.podIPs[*].ip}'`))
        await waitUntil(`${from.node} reaches the pod on ${to.node} at ${address}`, PATIENCE_MS, async () => {
          return (await dial(cp, NAMESPACE, from, address).catch(() => undefined)) === to.name;
        });
    for (const address of services)
      await waitUntil(`${from.node} reaches the Service at ${address}`, PATIENCE_MS, async () => {
        const answer = await dial(cp, NAMESPACE, from, address, 80).catch(() => undefined);
        return pods.some((pod) => pod.name === answer);
      });
  }
});

test('reset leaves nothing of either family', async () => {
  ok(await kbuild('reset', '--yes-destroy', 'six-first', '-i', file));
  for (const host of HOSTS) expect(await leftOfPods(host), host).toBe('');
});
