/**
 * A cluster of IPv6 alone behind a virtual address, on hosts whose firewalls drop the rest: SSH and downloads go over IPv4. Built,
 * reached, left alone, kept by the balancer when haproxy comes again, and reset.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { giveIpv6, ipv6Of, leftOfPods, nodeAddresses, reachedAt } from '../ipv6.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';

const HOSTS = ['sixcp1', 'sixw1'];
const [cp, worker] = HOSTS as [string, string];
const VIRTUAL = 'fd00:77::c8';
let args: readonly string[];
let file: string;
let folder: string;

/** A host's own rules: SSH, ICMP of both families with what finds neighbours, and nothing else. */
const RULES = `
table inet own {
  chain input { type filter hook input priority 0; policy drop;
    ct state established,related accept
    iif lo accept
    meta l4proto { icmp, ipv6-icmp } accept
    tcp dport 22 accept
  }
  chain forward { type filter hook forward priority 0; policy drop;
    ct state established,related accept
  }
}`;

beforeAll(async () => {
  ({
    up: args,
    file,
    folder,
  } = await fresh(
    'six',
    HOSTS,
    ({ hosts }) => ({
      network: { podSubnet: 'fd00:10:244::/56', serviceSubnet: 'fd00:10:96::/112' },
      loadBalancer: { kind: 'keepalived', address: VIRTUAL },
      firewall: 'open',
      hosts: hosts.map((host) => ({ ...host, internalAddress: ipv6Of(host.name) })),
    }),
    HOSTS,
  ));
  await giveIpv6(HOSTS);
  for (const name of HOSTS) await lab.inside(name, `nft -f - <<'END'\n${RULES}\nEND`);
});
afterAll(() => lab.down(HOSTS));

test('a control plane and a worker are built, and a second run has nothing to do', async () => {
  timed('IPv6, 1 + 1', await kbuild(...args));
  unchanged(timed('second run', await kbuild(...args)));
});

test('nodes have an IPv6 address alone, and the API answers at the virtual address', async () => {
  for (const name of HOSTS) expect(await nodeAddresses(cp, name)).toEqual([ipv6Of(name)]);
  const { stdout } = await lab.inside(worker, `curl -sk --max-time 5 https://[${VIRTUAL}]:8443/readyz`);
  expect(stdout).toBe('ok');
});

test('pods reach each other and a Service', async () => {
  expect(await reachedAt(cp, 'SingleStack')).toEqual([true]);
});

test('etcd and the cluster are healthy, and pods reach the API and cluster DNS', async () => {
  const { stdout } = ok(await kbuild('status', '--json', '-i', file));
  const status = JSON.parse(stdout) as {
    readonly etcd: { readonly members: readonly { readonly healthy: boolean }[] };
  };
  expect(status.etcd.members.map(({ healthy }) => healthy)).toEqual([true]);
  ok(await kbuild('check', '--active', '-i', file));
});

test('certificates are renewed where components listen at IPv6 alone', async () => {
  timed(
    'certs renew',
    await kbuild('certs', 'renew', '--all', '--yes', '-i', file, '--kubeconfig', join(folder, 'admin.conf')),
  );
  unchanged(await kbuild(...args));
});

test('reset leaves nothing', async () => {
  timed('reset', await kbuild('reset', '--yes-destroy', 'six', '-i', file));
  for (const name of HOSTS) expect(await leftOfPods(name), name).toBe('');
});
