/**
 * Ubuntu as clouds hand it out (docs/lab.md says what of it is real): the user `ubuntu` with sudo, cloud-init that still runs on one host,
 * unattended-upgrades with dpkg's lock on the other, ufw off and on, fail2ban, a snap's kubectl in the PATH. A cluster of 1 + 1 of 24.04 is
 * built, upgraded by one minor and reset; 26.04 (with sudo-rs and uutils) is 1 + 1 too, and 22.04 a node.
 */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checked } from '../findings.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { leftByReset } from '../left-by-reset.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { dial, kubectl, nodes, startEcho, stopEcho } from '../pods.ts';
import { attempt } from '../run.ts';
import { versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const [CP, WORKER] = ['ubucp1', 'ubuw1'] as const;
const NOBLE = [CP, WORKER];
const OTHERS = { jammy: ['ubucp2'], resolute: ['ubucp3', 'ubuw2'] } as const;
const [FIRST, NEXT] = KUBERNETES.map(({ version }) => version) as [string, string];

let folder: string;
let file: string;
let inventory: lab.LabInventory;

const up = (...more: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'), ...more);
async function on(host: string, command: string): Promise<string> {
  const { code, stdout, stderr } = await lab.inside(host, command);
  if (code !== 0) throw new Error(`${host}: ${command}: ${stdout}${stderr}`);
  return stdout.trim();
}

const asUbuntu = async (host: string, command: string): Promise<string> =>
  (await attempt('ssh', [...lab.sshArguments(host), command])).stdout;

/** A program that takes until `isAwaited`, an expression of Python, is true, and then notes in /root/NAME that it was. */
const untilAwaited = (name: string, isAwaited: string): string => `#!/usr/bin/python3
import glob, subprocess, time
open("/run/${name}", "w").close()
end = time.monotonic() + 300
while time.monotonic() < end and not (${isAwaited}):
    time.sleep(0.2)
open("/root/${name}", "w").write(str(time.monotonic() < end))
`;
const ANY_WAITS = 'any("waiting: " in open(o).read() for o in glob.glob("/run/kbuild/**/output", recursive=True))';
const CLOUD_INIT_IS_AWAITED = '"up" in open("/root/begun").read()';

/** cloud-init of the next boot installs a package and then works until kbuild waits for it. */
async function holdCloudInit(host: string): Promise<void> {
  const seed = '/var/lib/cloud/seed/nocloud/user-data';
  await lab.inside(host, 'cat >/usr/local/sbin/hold', untilAwaited('cloud-init-held', CLOUD_INIT_IS_AWAITED));
  await on(
    host,
    `chmod 755 /usr/local/sbin/hold; echo no >/root/begun; cloud-init clean
     printf 'package_update: true\\npackages: [jq]\\nruncmd: [[/usr/local/sbin/hold]]\\n' >>${seed}`,
  );
  await lab.reboot([host]);
  await waitUntil(
    'cloud-init holds',
    PATIENCE_MS,
    async () => (await lab.inside(host, 'ls /run/cloud-init-held')).code === 0,
  );
}

/** unattended-upgrades is in the midst of a package, with dpkg's lock, until a job of kbuild says that it waits. */
async function upgradeUnattended(host: string): Promise<void> {
  const hold = '/usr/local/sbin/lab-during-upgrade';
  await lab.inside(host, `cat >${hold}`, untilAwaited('upgrade-held', ANY_WAITS));
  await on(
    host,
    `chmod 755 ${hold}; apt-get -q update; systemd-run --quiet --collect --unit=upgrade unattended-upgrade -v`,
  );
  await waitUntil(
    'the upgrade holds',
    PATIENCE_MS,
    async () => (await lab.inside(host, 'ls /run/upgrade-held')).code === 0,
  );
}

function write(more: object = {}): void {
  writeFileSync(file, stringify({ ...inventory, ...more }, { aliasDuplicateObjects: false }));
}

async function podsReachEachOther(hosts: readonly string[]): Promise<void> {
  const [controlPlane] = hosts as [string];
  const pods = await startEcho(controlPlane, 'ubuntu');
  expect(pods.map(({ node }) => node).sort()).toEqual(hosts);
  for (const from of pods)
    for (const to of pods)
      expect(await dial(controlPlane, 'ubuntu', from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
  await stopEcho(controlPlane, 'ubuntu');
}

beforeAll(async () => {
  await lab.up(NOBLE, { os: 'noble' });
  await lab.reset(NOBLE);
  inventory = { ...(await lab.inventory(NOBLE)), name: 'ubuntu' };
  ({ folder, file } = inventoryFile(inventory));
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  await on(WORKER, 'cloud-init status --wait >/dev/null; ufw allow 22/tcp; ufw --force enable');
  // A named set of nft, as fail2ban makes at the first ban.
  for (const host of NOBLE)
    await on(host, 'fail2ban-client set sshd banip 192.0.2.1; nft list set inet f2b-table addr-set-sshd');
});

afterAll(() => lab.down([...NOBLE, ...Object.values(OTHERS).flat()]));

test('a host is what the lab says of it, and root may not log in', async () => {
  expect(await on(CP, '. /etc/os-release; echo "$ID $VERSION_ID $VERSION_CODENAME"')).toBe('ubuntu 24.04 noble');
  expect(await on(CP, 'cat /etc/resolv.conf')).toContain('nameserver 127.0.0.53');
  expect(await asUbuntu(CP, 'whoami; command -v kubectl; sudo -n id -u')).toBe('ubuntu\n/snap/bin/kubectl\n0\n');
  expect((await attempt('ssh', [...lab.sshArguments(CP, 'root'), 'id'])).stdout).toMatch(
    /^Please login as the user "ubuntu"/,
  );
});

test('check names the ports that ufw keeps closed, and finds nothing else that stops up', async () => {
  const { findings } = await checked(inventory);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ check, host }) => `${check} ${host ?? ''}`)).toEqual([`firewall ${WORKER}`]);
  console.log(
    findings.map(({ severity, check, host, message }) => `${severity} ${check} ${host ?? ''}: ${message}`).join('\n'),
  );
});

test('up waits for cloud-init and for unattended-upgrades, and builds the cluster', async () => {
  write({ firewall: 'open' });
  await holdCloudInit(CP);
  await upgradeUnattended(WORKER);
  expect((await checked({ ...inventory, firewall: 'open' })).findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: 'cloud-init', host: CP, severity: 'due' }),
      expect.objectContaining({ check: 'package-locks', host: WORKER }),
    ]),
  );
  await on(
    CP,
    'echo up >/root/begun.new; systemd-run --quiet --collect sh -c "sleep 15; mv /root/begun.new /root/begun"',
  );
  const ran = timed('two nodes of Ubuntu 24.04', await up());
  expect(await on(CP, 'cat /root/cloud-init-held; command -v jq')).toBe('True/usr/bin/jq');
  expect(await on(WORKER, 'cat /root/upgrade-held')).toBe('True');
  console.log(ran.stderr);
  expect(ran.stderr).toMatch(/ubuw1: waiting: \S*lock-frontend is held by process \d+ \(unattended-upgr\)/);
  expect(await nodes(CP)).toEqual({ [CP]: true, [WORKER]: true });
  const images = `get nodes -o jsonpath='{range .items[*]}{.status.nodeInfo.osImage};{end}'`;
  expect(await kubectl(CP, images)).toBe('Ubuntu 24.04.3 LTS;Ubuntu 24.04.3 LTS;');
  expect(await on(CP, `dpkg-query -W -f '\${Version}' containerd.io`)).toMatch(/~ubuntu\.24\.04~noble$/);
});

test('kubectl is that of the packages, and pods get the name servers behind the stub', async () => {
  expect(await asUbuntu(CP, 'command -v kubectl')).toBe('/usr/bin/kubectl\n');
  expect(await on(CP, 'grep ^resolvConf: /var/lib/kubelet/config.yaml')).toContain('/run/systemd/resolve/resolv.conf');
});

test('pods of both hosts reach each other, also where ufw forwards nothing by default', async () => {
  expect(await on(WORKER, 'grep ^DEFAULT_FORWARD_POLICY /etc/default/ufw')).toContain('DROP');
  await podsReachEachOther(NOBLE);
});

test('needrestart, told to restart by itself, and fail2ban leave the cluster and this machine alone', async () => {
  const started = `systemctl show -P ActiveEnterTimestamp kubelet containerd`;
  const before = await on(WORKER, started);
  await on(WORKER, 'NEEDRESTART_MODE=a needrestart -r a </dev/null 2>&1; :');
  expect(await on(WORKER, started)).toBe(before);
  for (const host of NOBLE) expect(await on(host, 'fail2ban-client get sshd banip')).toBe('192.0.2.1');
  expect(await nodes(CP)).toEqual({ [CP]: true, [WORKER]: true });
});

test('a second run has nothing to do', async () => {
  unchanged(await up());
});

test('upgrade takes both hosts to the next minor', async () => {
  const { kubernetes } = inventory as unknown as { readonly kubernetes: object };
  write({ firewall: 'open', kubernetes: { ...kubernetes, version: NEXT } });
  const settings = ['--yes', '--kubeconfig', join(folder, 'admin.conf')];
  timed(`${FIRST} → ${NEXT}`, await kbuild('upgrade', file, ...settings));
  expect(await versionsOf(CP)).toMatchObject({ kubelet: [`v${NEXT}`], apiServer: [`v${NEXT}`] });
  expect(await on(WORKER, 'apt-mark showhold')).toBe('containerd.io\nkubeadm\nkubectl\nkubelet\nkubernetes-cni');
  unchanged(await up());
});

test('reset takes it all back', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'ubuntu'));
  for (const host of NOBLE) expect(await leftByReset(host), host).toBe('');
  expect(await on(WORKER, 'ufw status')).toMatch(/22\/tcp/);
  expect(await on(WORKER, 'ufw status')).not.toContain('kbuild');
  expect(await on(CP, 'apt-mark showhold; ls /etc/apt/sources.list.d /etc/apt/keyrings')).toMatch(/ubuntu\.sources/);
  await lab.down(NOBLE);
});

test.each([
  ['jammy', '22.04'],
  ['resolute', '26.04'],
] as const)('hosts of %s are checked, built and reset', async (os, version) => {
  const hosts = OTHERS[os];
  const [controlPlane] = hosts;
  await lab.up(hosts, { os });
  await lab.reset(hosts);
  for (const host of hosts) await on(host, 'cloud-init status --wait >/dev/null; :');
  const plain = await lab.inventory(hosts);
  const alone = {
    ...plain,
    name: os,
    hosts: plain.hosts.map((one) => (hosts.length > 1 ? one : { ...one, taints: [] })),
  };
  const made = inventoryFile(alone);
  const { findings } = await checked(alone);
  console.log(findings.map(({ severity, check, message }) => `${os}: ${severity} ${check}: ${message}`).join('\n'));
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const settings = ['--yes', '--kubeconfig', join(made.folder, 'admin.conf')];
  timed(`${String(hosts.length)} nodes of Ubuntu ${version}`, await kbuild('up', made.file, ...settings));
  expect(await nodes(controlPlane)).toEqual(Object.fromEntries(hosts.map((host) => [host, true])));
  await podsReachEachOther(hosts);
  unchanged(await kbuild('up', made.file, ...settings));
  ok(await kbuild('reset', made.file, '--yes-destroy', os));
  for (const host of hosts) expect(await leftByReset(host), host).toBe('');
  await lab.down(hosts);
});
