/** Pods, Services and nodes with addresses of both families: built with flannel, reached in each family, left alone, and reset. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LabFinding } from '../findings.ts';
import { fresh } from '../fresh.ts';
import { giveIpv6, ipv6Of, leftOfPods, nodeAddresses, reachedAt } from '../ipv6.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';

const HOSTS = ['dscp1', 'dsw1'];
const [cp] = HOSTS as [string];
let args: readonly string[];
let file: string;

beforeAll(async () => {
  const prepared = HOSTS;
  ({ up: args, file } = await fresh(
    'dual',
    HOSTS,
    ({ hosts }) => ({
      network: { podSubnet: '10.244.0.0/16,fd00:10:244::/56', serviceSubnet: '10.96.0.0/12,fd00:10:96::/112' },
      hosts: hosts.map((host) => ({ ...host, internalAddress: `${host.address},${ipv6Of(host.name)}` })),
    }),
    prepared,
  ));
  await giveIpv6(HOSTS);
});
afterAll(() => lab.down(HOSTS));

test('a control plane and a worker are built, and a second run has nothing to do', async () => {
  timed('dual stack, 1 + 1', await kbuild(...args));
  unchanged(timed('second run', await kbuild(...args)));
});

test('each node has an address and a pod network of each family', async () => {
  for (const name of HOSTS) {
    expect(await nodeAddresses(cp, name)).toEqual([lab.hostSettings(name).address, ipv6Of(name)]);
    const networks = await kubectl(cp, `get node ${name} -o 'jsonpath={.spec.podCIDRs[*]}'`);
    expect(networks).toMatch(/^10\.244\.\d+\.0\/24 fd00:10:244:/);
  }
});

test('pods reach each other and a Service in each family', async () => {
  expect(await reachedAt(cp, 'RequireDualStack')).toEqual([false, true]);
});

test('the check of the pod network tries both families, and finds what a host drops in one', async () => {
  const podNetwork = async (): Promise<readonly LabFinding[]> => {
    const { stdout } = await kbuild('check', '--active', '--json', '-i', file);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly LabFinding[] };
    return findings.filter(({ check }) => check === 'pod-network');
  };
  expect(await podNetwork()).toEqual([]);
  await lab.inside(HOSTS[1]!, 'ip6tables -I INPUT -p udp --dport 8472 -j DROP');
  const found = await podNetwork();
  expect(found.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('over IPv6: no answer within 3 s'),
  );
  expect(JSON.stringify(found)).not.toContain('over IPv4');
});

test('reset leaves nothing of either family', async () => {
  timed('reset', await kbuild('reset', '--yes-destroy', 'dual', '-i', file));
  for (const name of HOSTS) expect(await leftOfPods(name), name).toBe('');
});
