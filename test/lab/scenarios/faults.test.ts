/** Every check that the lab can provoke beside those of preflight.test.ts: many faults on ten hosts, exactly those found. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checked, notable } from '../findings.ts';
import * as lab from '../lab.ts';

const HOSTS = ['qcp1', 'qw1', 'qw2', 'qw3', 'qw4', 'qw5', 'qw6', 'qw7', 'qw8', 'qw9'] as const;
const [cp, w1, w2, w3, w4, w5, w6, w7, w8, w9] = HOSTS;

let inventory: lab.LabInventory;

const addressOf = (host: string): string => lab.hostSettings(host).address;

async function on(host: string, script: string): Promise<void> {
  const { code, stderr } = await lab.inside(host, `set -e\n${script}`);
  if (code !== 0) throw new Error(`${host}: ${stderr}`);
}

/** Puts a changed file over one of the kernel's: what cannot be had in a host is at least said in its words. */
const over = (path: string, edit: string): string =>
  `sed ${edit} ${path} > /run/fault${path.replaceAll('/', '-')}; mount --bind /run/fault${path.replaceAll('/', '-')} ${path}`;

/** A program that lies when its first word is the given one. */
const lying = (program: string, word: string, answer: string): string =>
  `printf '#!/bin/sh\\n[ "$1" = "${word}" ] && { echo ${answer}; exit; }\\nexec /usr/bin/${program} "$@"\\n' > /usr/local/bin/${program}; chmod +x /usr/local/bin/${program}`;

const runtimeOf = (registry: object) => ({
  ...(inventory['runtime'] as object),
  registries: [
    { host: 'registry.k8s.io', mirrors: [lab.PRIVATE_REGISTRY.url], ca: lab.tls.ca, ...registry },
    { host: 'ghcr.io', mirrors: [lab.REGISTRY_URL] },
  ],
});

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'faults' };
});

afterAll(() => lab.down(HOSTS));

test('ten healthy hosts: nothing is found', async () => {
  // How quick it is, the bench says, beside the floor of the same run.
  const { findings, code, seconds, stderr } = await checked(inventory);
  console.log(`check of ${String(HOSTS.length)} hosts without surveys: ${seconds.toFixed(2)} s`);
  expect(notable(inventory, findings)).toEqual([]);
  expect(code, stderr).toBe(0);
});

test('two operators survey the same hosts at the same time, and neither disturbs the other', async () => {
  const some = { ...inventory, hosts: inventory.hosts.slice(0, 3) };
  const both = await Promise.all([checked(some, '--active'), checked(some, '--active')]);
  for (const { findings, code, stderr } of both) {
    expect(notable(inventory, findings), stderr).toEqual([]);
    expect(code).toBe(0);
  }
});

test('surveys: a way that carries less, no overlay, a registry that refuses the login', async () => {
  process.env['LAB_REGISTRY_PASSWORD'] = lab.PRIVATE_REGISTRY.password;
  process.env['LAB_REGISTRY_WRONG'] = 'not the password';
  const login = { username: lab.PRIVATE_REGISTRY.username, password: 'env:LAB_REGISTRY_PASSWORD' };
  const some = { ...inventory, hosts: inventory.hosts.slice(0, 3) };
  const well = await checked({ ...some, runtime: runtimeOf(login) }, '--active');
  expect(notable(inventory, well.findings), JSON.stringify(well.findings)).toEqual([]);
  await on(w1, 'iptables -w -A INPUT -p udp --dport 8472 -m length --length 1401: -j DROP');
  await on(w2, 'umount /var/lib/containerd');
  const wrong = runtimeOf({ ...login, password: 'env:LAB_REGISTRY_WRONG' });
  const { findings, seconds, code } = await checked({ ...some, runtime: wrong }, '--active');
  console.log(`check --active of ${String(some.hosts.length)} hosts: ${seconds.toFixed(2)} s`);
  expect(code).toBe(6);
  const narrow = findings.filter(({ check }) => check === 'path-mtu').map(({ host, message }) => `${host!} ${message}`);
  expect(narrow).toEqual(
    [cp, w2].map((host) => `${host} packets of 1500 bytes, the MTU of its interface, vanish, on the way to ${w1}`),
  );
  const overlays = findings.filter(({ check }) => check === 'overlay-mount' || check === 'overlay-storage');
  expect(overlays.map(({ host }) => host)).toEqual([w2, w2]);
  const refused = findings.filter(({ check, severity }) => check === 'downloads' && severity === 'error');
  expect([...new Set(refused.map(({ host }) => host))]).toEqual([cp, w1, w2]);
  expect(refused[0]!.message).toContain('is not given to the login of the inventory (401)');
});

test('many faults at once are found, each where it is, and nothing else', async () => {
  await lab.reset([w1, w2]);
  await on(
    cp,
    `echo nameserver 127.0.0.1 > /etc/resolv.conf
     taskset -apc 0 "$(systemctl show -p MainPID --value ssh)" >/dev/null
     ${over('/proc/meminfo', `'s/^MemTotal:.*/MemTotal: 1500000 kB/'`)}`,
  );
  await on(w1, ': > /etc/resolv.conf; : > /etc/hosts');
  await on(
    w2,
    `echo http_proxy=http://10.9.9.9:3128 >> /etc/environment
     systemd-run -q --unit=locker perl -e 'open(F, ">>", "/var/lib/dpkg/lock-frontend"); flock(F, 2); sleep 600'`,
  );
  await on(
    w3,
    `mkdir -p /run/cloud-init /run/crio /run/containerd/io.containerd.runtime.v2.task/moby/a; touch /run/cloud-init/status.json
     systemd-run -q --unit=crio nc -lU /run/crio/crio.sock`,
  );
  const twin =
    'ip link add ext9 type veth peer name ext8; ip link set ext9 address 52:54:00:00:00:09; ip addr add 10.99.0.1/32 dev ext9';
  await on(w4, `${twin}; iptables -w -N KUBE-SERVICES`);
  await on(w5, `${twin}; ip route del default`);
  await on(w6, 'ip route add 10.244.7.0/24 dev eth0; ip link set eth0 mtu 1400');
  await on(
    w7,
    `ip addr add 10.98.0.1/32 dev eth0; ip route add ${addressOf(w8)}/32 dev eth0 src 10.98.0.1
     mv "$(command -v losetup)" /root/; mv /usr/bin/losetup /root/ 2>/dev/null || true`,
  );
  await on(w8, `hostname ${w9}`);
  await on(
    w9,
    `sed -i 's/^VERSION_ID=.*/VERSION_ID="10"/; s/^VERSION_CODENAME=.*/VERSION_CODENAME=buster/' /etc/os-release
     ${lying('uname', '-m', 'armv7l')}
     ${over('/proc/sys/kernel/osrelease', `'s/.*/4.14.0/'`)}
     if [ -e /sys/fs/cgroup/cgroup.controllers ]; then file=/sys/fs/cgroup/cgroup.controllers; else file=/proc/cgroups; fi
     sed 's/^memory\\(.*\\)1$/memory\\10/; s/\\bmemory //' $file > /run/cgroups; mount --bind /run/cgroups $file
     ${over('/proc/filesystems', `/overlay/d`)}
     umount /var/lib/containerd`,
  );
  const { findings, code } = await checked(inventory);
  expect(code).toBe(6);
  expect(findings).toContainEqual(expect.objectContaining({ check: 'cloud-init', severity: 'due', host: w3 }));
  expect(notable(inventory, findings), JSON.stringify(findings, undefined, 1)).toEqual(
    [
      `error resolver-loop ${cp}`,
      `error cpus ${cp}`,
      `error memory ${cp}`,
      `error nameserver ${w1}`,
      `error local-names ${w1}`,
      `warning local-names ${w1}`,
      `warning proxy-variables ${w2}`,
      // Its no_proxy leaves out the cluster.
      `warning proxy-variables ${w2}`,
      `warning package-locks ${w2}`,
      `error existing-runtime ${w3}`,
      `warning existing-runtime ${w3}`,
      `error unique-mac ${w4}`,
      `error unique-mac ${w5}`,
      `error unique-address ${w4}`,
      `error unique-address ${w5}`,
      `warning leftovers ${w4}`,
      `error default-route ${w5}`,
      `error route-overlap ${w6}`,
      `warning mtu ${w6}`,
      `warning routes-between-hosts ${w7}`,
      `error required-tools ${w7}`,
      `error unique-hostname ${w8}`,
      `error unique-hostname ${w9}`,
      `warning local-names ${w8}`,
      `error os-supported ${w9}`,
      `error architecture ${w9}`,
      `error kernel-version ${w9}`,
      `error kernel-modules ${w9}`,
      `error cgroup-controllers ${w9}`,
      `error overlay-storage ${w9}`,
    ].toSorted(),
  );
});

test('what up mends is due: swap to come, a package half installed, a runtime of the other cgroup driver', async () => {
  const hosts = [w1, w2] as const;
  await lab.reset(hosts);
  await on(
    w1,
    `echo '/swapfile none swap sw 0 0' >> /etc/fstab
     sed -i '/^Package: tzdata$/,/^Status:/s/^Status:.*/Status: install ok half-configured/' /var/lib/dpkg/status`,
  );
  await on(
    w2,
    'apt-get update -q; DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends containerd',
  );
  const some = { ...inventory, hosts: inventory.hosts.filter(({ name }) => ([w1, w2, w3] as string[]).includes(name)) };
  const healthy = some.hosts.map((host) => (host.name === w3 ? { ...host, role: 'control-plane' } : host));
  const { findings } = await checked({ ...some, hosts: healthy });
  const due = findings.filter(({ severity }) => severity === 'due').map(({ check, host }) => `${check} ${host!}`);
  expect(due).toEqual(expect.arrayContaining([`swap ${w1}`, `package-manager ${w1}`, `cgroup-driver ${w2}`]));
});

test('addresses and names: one that is not on the host, an endpoint that no nameserver knows, a virtual address that is taken', async () => {
  await lab.reset([cp, w1, w2]);
  const hosts = inventory.hosts
    .slice(0, 3)
    .map((host) => (host.name === w2 ? { ...host, internalAddress: '10.77.0.229' } : host));
  const kubernetes = { ...(inventory['kubernetes'] as object), endpoint: 'nowhere.example:6443' };
  const lost = await checked({ ...inventory, hosts, kubernetes });
  const found = notable(inventory, lost.findings);
  expect(found).toEqual(expect.arrayContaining([`error address-on-host ${w2}`, `error endpoint-name ${cp}`]));
  const taken = {
    ...inventory,
    hosts: inventory.hosts.slice(0, 3),
    loadBalancer: { kind: 'keepalived', address: addressOf(w9) },
  };
  const { findings } = await checked(taken);
  expect(findings.filter(({ check }) => check === 'endpoint').map(({ message }) => message)).toContain(
    `another machine has the virtual address ${addressOf(w9)}`,
  );
});

test('cgroup v1, where the machine has it, is an error unless the inventory accepts it', async () => {
  const hosts = inventory.hosts.slice(0, 3);
  const { stdout } = await lab.inside(cp, 'stat -fc %T /sys/fs/cgroup');
  const { findings } = await checked({ ...inventory, hosts, kubelet: {} });
  const found = findings.filter(({ check }) => check === 'cgroup-version').map(({ host }) => host);
  expect(found).toEqual(stdout.trim() === 'cgroup2fs' ? [] : hosts.map(({ name }) => name));
});

test('a worker that is cut off is reported, and so is a wrong clock of this machine', async () => {
  const clock = `printf '#!/bin/sh\\nexec /usr/bin/date -d "+10 minutes" "$@"\\n' > /usr/local/bin/date; chmod +x /usr/local/bin/date`;
  for (const host of [cp, w1]) await on(host, clock);
  await lab.partition([w2]);
  const { findings } = await checked({ ...inventory, hosts: inventory.hosts.slice(0, 3) });
  await lab.heal([w2]);
  expect(notable(inventory, findings)).toEqual([`warning operator-clock`, `warning reachable ${w2}`]);
});
