/** The lab itself: boots, reboots, power cuts, partitions, resets, and nothing left afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  down,
  heal,
  hostSettings,
  inside,
  inventory,
  isOn,
  kill,
  partition,
  paths,
  PRIVATE_REGISTRY,
  reboot,
  reset,
  ssh,
  start,
  tls,
  up,
} from './lab.ts';
import { BRIDGES } from './network-plan.ts';
import { attempt } from './run.ts';
import { supervisorOf, initOf } from './host-processes.ts';
import { signal } from './process-id.ts';

const A = 'xcp1';
const B = 'xw2';
const PING = (address: string): string => `ping -c1 -W1 -q ${address} >/dev/null && echo yes || echo no`;

const answer = async (name: string, command: string): Promise<string> => {
  const { stdout, stderr, code } = await ssh(name, command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trim();
};

beforeAll(async () => {
  await down([A, B]);
  await up([A]);
  await up([B], { nics: 2 });
});

afterAll(() => down([A, B]));

test('hosts are systemd machines that greet over ssh with known keys, as root and as a sudo user', async () => {
  expect(await answer(A, 'hostname; systemctl is-system-running --wait')).toBe(`${A}\nrunning`);
  const { stdout } = await attempt('ssh', [
    ...[
      '-F',
      'none',
      '-i',
      paths.identityFile,
      '-o',
      `UserKnownHostsFile=${paths.knownHostsFile}`,
      '-o',
      'BatchMode=yes',
    ],
    ...[`ops@${hostSettings(A).address}`, 'sudo -n id -un'],
  ]);
  expect(stdout).toBe('root\n');
});

test('a host with two interfaces has SSH on one and the cluster on the other', async () => {
  const { address, internalAddress } = hostSettings(B);
  expect(await answer(B, 'ip -br -4 address show | awk \'$1 != "lo" { print $3 }\'')).toBe(
    `${address}/24\n${internalAddress ?? ''}/24`,
  );
  expect(await answer(B, 'ip route show default')).toContain('via 10.77.0.1 dev eth0');
  const { hosts } = await inventory([A, B]);
  expect(hosts).toEqual([
    { name: A, address: hostSettings(A).address, role: 'control-plane' },
    { name: B, address, internalAddress, role: 'worker' },
  ]);
});

test('packages are signed, images are served, and nothing else is reached', async () => {
  expect(
    await answer(A, 'apt-get -qq update && apt-get -s -qq install haproxy keepalived chrony | grep -c ^Inst'),
  ).toMatch(/^\d+$/);
  const key = 'curl -fsS http://10.77.0.1:8080/kubernetes/v1.37/deb/Release.key | head -1';
  expect(await answer(A, key)).toBe('-----BEGIN PGP PUBLIC KEY BLOCK-----');
  expect(await answer(A, 'curl -fsS http://10.77.0.1:5000/v2/kube-apiserver/tags/list')).toContain('v1.37.1');
  const catalog = `${PRIVATE_REGISTRY.url}/v2/_catalog`;
  const login = `${PRIVATE_REGISTRY.username}:${PRIVATE_REGISTRY.password}`;
  await ssh(A, 'cat > /tmp/ca.crt', readFileSync(tls.ca, 'utf8'));
  expect(await answer(A, `curl -s -o /dev/null ${catalog} || echo $?`)).toBe('60'); // an unknown authority
  expect(await answer(A, `curl -sS -w '%{http_code}' -o /dev/null --cacert /tmp/ca.crt ${catalog}`)).toBe('401');
  expect(await answer(A, `curl -fsS --cacert /tmp/ca.crt -u ${login} ${catalog}`)).toContain('"kube-apiserver"');
  expect(await answer(A, 'curl -sS -m 3 -o /dev/null http://192.0.2.1/ 2>/dev/null && echo yes || echo no')).toBe('no');
});

test('a reboot is a new boot with fresh interfaces and rules, and the same disk', async () => {
  const boot = await answer(
    A,
    'iptables -N LEFT && ip link add left type bridge && echo kept > /root/file && sync; cat /proc/sys/kernel/random/boot_id',
  );
  await ssh(A, 'systemctl reboot'); // the host's own doing: the supervisor boots it again
  await expect
    .poll(async () => (await ssh(A, 'cat /proc/sys/kernel/random/boot_id')).stdout.trim(), { timeout: 30_000 })
    .toMatch(/^(?!$)/);
  await reboot([A]);
  expect(await answer(A, 'cat /proc/sys/kernel/random/boot_id')).not.toBe(boot);
  expect(await answer(A, 'cat /root/file; iptables -S | grep -c LEFT; ip link | grep -c left || true')).toBe(
    'kept\n0\n0',
  );
});

test('a power cut ends everything at once, and the host stays off until it is switched on', async () => {
  await inside(A, 'systemd-run -q --unit=forever sleep 1000');
  await kill([A]);
  expect(isOn(A)).toBe(false);
  expect((await ssh(A, 'true')).code).toBe(255);
  await start([A]);
  expect(await answer(A, 'cat /root/file; systemctl is-active forever || true')).toBe('kept\ninactive');
});

test('who boots changes nothing for the others: this machine keeps the MAC address that they know', async () => {
  const known = `cat /proc/net/arp | awk '$1 == "10.77.0.1" { print $4 }'`;
  await reset([A]);
  expect(await answer(B, known)).toBe(BRIDGES[0].mac);
  expect(readFileSync('/sys/class/net/kblab0/address', 'utf8').trim()).toBe(BRIDGES[0].mac);
});

test('a partition cuts hosts off, with or without this machine, until it is healed', async () => {
  const reach = async (): Promise<readonly string[]> => [
    (await inside(B, PING(hostSettings(A).address))).stdout.trim(),
    (await inside(B, PING('10.77.0.1'))).stdout.trim(),
  ];
  expect(await reach()).toEqual(['yes', 'yes']);
  await partition([B], 'hosts');
  expect(await reach()).toEqual(['no', 'yes']);
  await partition([B]);
  expect(await reach()).toEqual(['no', 'no']);
  await heal([B]);
  await expect.poll(reach, { timeout: 60_000 }).toEqual(['yes', 'yes']);
});

test('a reset is a fresh system at the same address with the same host keys', async () => {
  const keys = readFileSync(paths.knownHostsFile, 'utf8');
  await reset([A]);
  expect(await answer(A, 'ls /root/file 2>/dev/null || echo none')).toBe('none');
  expect(readFileSync(paths.knownHostsFile, 'utf8')).toBe(keys);
});

test('`up` mends what a crash of the lab left: a supervisor that died under its host', async () => {
  signal(supervisorOf(A)!, 'SIGKILL');
  expect(initOf(A)).toBeDefined();
  await up([A]);
  expect(supervisorOf(A)).toBeDefined();
  expect(await answer(A, 'hostname')).toBe(A);
});

test('`down` leaves no namespace, mount, interface, cgroup, process or known key of a host', async () => {
  const { octet, address } = hostSettings(A);
  await down([A]);
  expect((await attempt('ip', ['netns', 'list'])).stdout).not.toContain(`kblab-${A}`);
  expect((await attempt('ip', ['-o', 'link'])).stdout).not.toContain(`kbh${octet}n`);
  expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(`${paths.hosts}/${A}/`);
  expect((await attempt('find', ['/sys/fs/cgroup', '-maxdepth', '3', '-path', `*/kbuild-lab/${A}`])).stdout).toBe('');
  expect(existsSync(`${paths.hosts}/${A}`)).toBe(false);
  expect(readFileSync(paths.knownHostsFile, 'utf8')).not.toContain(`${address} `);
});
