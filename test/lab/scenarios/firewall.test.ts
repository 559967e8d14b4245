/** `firewall: open`: what ufw and nftables keep closed is opened for the other hosts alone, stays open, and is taken back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checked } from '../findings.ts';
import { inventoryFile, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOSTS = ['fcp1', 'fw1', 'fw2'] as const;
const [, ufw, nft] = HOSTS;

let inventory: lab.LabInventory;

async function on(host: string, script: string): Promise<string> {
  const { code, stdout, stderr } = await lab.inside(host, `set -e\n${script}`);
  if (code !== 0) throw new Error(`${host}: ${stderr}`);
  return stdout;
}

const found = async (changed: object, ...flags: readonly string[]) => {
  const { findings } = await checked(changed, ...flags);
  return findings
    .filter(({ check }) => check === 'firewall' || check === 'port-matrix')
    .map(({ severity, check, host }) => `${severity} ${check} ${host!}`);
};

const nftRules = (): Promise<string> => on(nft, 'nft list chain inet filter input; nft list chain inet filter forward');

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'fire' };
  await on(
    ufw,
    'apt-get update -q; DEBIAN_FRONTEND=noninteractive apt-get install -yq ufw; ufw allow 22/tcp; ufw --force enable',
  );
  await on(
    nft,
    `cat > /etc/nftables.conf <<'END'
flush ruleset
table inet filter {
  chain input { type filter hook input priority 0; policy drop; ct state established,related accept; iif lo accept; tcp dport 22 accept; }
  chain forward { type filter hook forward priority 0; policy drop; }
}
END
     systemctl enable --now nftables`,
  );
});

afterAll(() => lab.down(HOSTS));

test('is only reported unless the inventory says so', async () =>
  expect(await found(inventory)).toEqual([
    `error firewall ${ufw}`,
    `error firewall ${nft}`,
    // What goes through the host.
    `error firewall ${nft}`,
  ]));

test('is opened, so that every way of the port matrix is free; nothing else is, and it stays', async () => {
  const open = { ...inventory, firewall: 'open' };
  const before = await found(open, '--active');
  expect(before.filter((one) => !one.startsWith('due '))).toEqual([]);
  expect(before.some((one) => one.startsWith(`due port-matrix ${ufw}`))).toBe(true);
  const { file, folder } = inventoryFile(open);
  const up = await kbuild('up', file, '--yes', '--phase', 'prepare', '--kubeconfig', `${folder}/kubeconfig`);
  expect(up.code, up.stderr).toBe(0);
  expect(await found(open, '--active')).toEqual([]);
  const status = await on(ufw, 'ufw status');
  const address = lab.hostSettings(HOSTS[0]).address;
  expect(status).toMatch(new RegExp(`10250,10256/tcp +ALLOW +${address.replaceAll('.', '[.]')} +# kbuild`));
  expect(status).not.toMatch(/(?:10250|8472).*Anywhere/);
  await on(nft, 'systemctl reload nftables; systemctl restart nftables');
  await lab.reboot([ufw, nft]);
  const plan = await kbuild('plan', file, '--phase', 'prepare', '--detailed-exitcode');
  expect(plan.code, plan.stdout).toBe(0);
  expect(await nftRules()).toContain('comment "kbuild"');
  expect(await found(open, '--active')).toEqual([]);
});

test('packets go through a host to its pods, and would not without', async () => {
  await on(
    nft,
    `ip netns add pod; ip link add pod0 type veth peer name eth0 netns pod
     ip addr add 10.244.9.1/24 dev pod0; ip link set pod0 up
     ip netns exec pod ip addr add 10.244.9.2/24 dev eth0; ip netns exec pod ip link set eth0 up
     ip netns exec pod ip route add default via 10.244.9.1
     systemd-run -q --unit=pod ip netns exec pod nc -lk 8080`,
  );
  await on(ufw, `ip route add 10.244.9.0/24 via ${lab.hostSettings(nft).address}`);
  const reached = async (): Promise<boolean> => (await lab.inside(ufw, 'nc -zw3 10.244.9.2 8080')).code === 0;
  await waitUntil('the pod answers', PATIENCE_MS, reached);
  await on(nft, 'systemctl stop kbuild-firewall');
  expect(await reached()).toBe(false);
  await on(nft, 'systemctl start kbuild-firewall');
  expect(await reached()).toBe(true);
});

test('is taken back by reset, and the rules of others stay', async () => {
  const { file } = inventoryFile({ ...inventory, firewall: 'open' });
  const reset = await kbuild('reset', file, '--yes-destroy', 'fire');
  expect(reset.code, reset.stderr).toBe(0);
  expect(await on(ufw, 'ufw status')).not.toContain('kbuild');
  expect(await on(ufw, 'ufw status')).toContain('22/tcp');
  expect(await nftRules()).not.toContain('kbuild');
  expect(await nftRules()).toContain('tcp dport 22 accept');
  expect(await on(nft, 'ls -d /etc/*kbuild* /etc/systemd/system/*kbuild* 2>/dev/null || true')).toBe('');
});
