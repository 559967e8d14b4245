/** Preflight on real hosts: a healthy fleet, ten faults at once, what surveys see and leave behind, whose cluster it is. */
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checked, notable, type LabFinding } from '../findings.ts';
import { inventoryFile, kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOSTS = ['pcp1', 'pw1', 'pw2', 'pw3', 'pw4'] as const;
const [cp, w1, w2] = HOSTS;

let inventory: lab.LabInventory;

const on = (host: string, script: string) => lab.inside(host, script);
const address = (name: string) => lab.hostSettings(name).address;

const leftBySurveys = `systemctl list-units --all --plain --no-legend 'kbuild-survey*'; ls -d /run/kbuild/survey* /var/lib/.kbuild-survey* /var/lib/etcd/.kbuild-survey* 2>/dev/null; ss -Hltn 'sport = :10250'`;

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'pre' };
});

afterAll(() => lab.down(HOSTS));

test('a healthy fleet has no error, nothing unknown, and no warning but those of the lab', async () => {
  const { findings, code, seconds, stderr } = await checked(inventory);
  console.log(`check of ${String(HOSTS.length)} hosts: ${seconds.toFixed(2)} s`);
  expect(code, stderr).toBe(0);
  expect(notable(inventory, findings)).toEqual([]);
});

test('surveys of a healthy fleet find nothing and leave nothing behind', async () => {
  const { seconds: without } = await checked(inventory);
  const { findings, code, seconds, stderr } = await checked(inventory, '--active');
  console.log(`check --active of ${String(HOSTS.length)} hosts: ${seconds.toFixed(2)} s`);
  // What listens there ends at once: systemd once waited for 10 s, here and there, for a child whose end it had missed.
  expect(seconds).toBeLessThan(12 * without);
  expect(notable(inventory, findings), JSON.stringify(findings)).toEqual([]);
  expect(code, stderr).toBe(0);
  for (const host of HOSTS) expect((await on(host, leftBySurveys)).stdout, host).toBe('');
});

test('a firewall between two hosts, a repository and a version that are not there', async () => {
  const rule = (verb: string) =>
    `iptables -w -${verb} INPUT -s ${address(cp)} -p tcp --dport 10250 -j DROP && iptables -w -${verb} INPUT -s ${address(w2)} -p udp --dport 8472 -j DROP`;
  await on(w1, rule('A'));
  const kubernetes = inventory['kubernetes'] as { repository: { url: string } };
  const repository = { ...kubernetes.repository, url: `${lab.PACKAGES_URL}/nowhere` };
  const { file, folder } = inventoryFile({ ...inventory, kubernetes: { ...kubernetes, repository } });
  const xml = join(folder, 'check.xml');
  const ran = await kbuild('check', file, '--json', '--active', '--junit', xml);
  await on(w1, rule('D'));
  const { findings } = JSON.parse(ran.stdout) as { findings: readonly LabFinding[] };
  expect(ran.code).toBe(6);
  const ways = findings.filter((one) => one.check === 'port-matrix').map(({ host, message }) => `${host!} ${message}`);
  expect(ways.toSorted()).toEqual([
    `${w1} tcp port 10250 (kubelet) cannot be reached from ${cp}: no answer within 10 s`,
    `${w1} udp port 8472 (flannel) cannot be reached from ${w2}: nothing came through`,
  ]);
  const missing = findings.filter((one) => one.check === 'downloads');
  expect(missing.map(({ host }) => host)).toEqual(HOSTS.flatMap((host) => [host, host]));
  expect(missing.map(({ message }) => message).join('\n')).toContain('cannot get the repository of Kubernetes');
  expect(readFileSync(xml, 'utf8')).toContain(`classname="${w1}" name="port-matrix"`);
});

test('a kbuild that dies during a survey leaves nothing behind', async () => {
  const { file } = inventoryFile(inventory);
  // The survey waits 10 s for an answer, so that the kill comes in its middle on a quick machine too.
  const rule = (verb: string) => `iptables -w -${verb} INPUT -s ${address(cp)} -p tcp --dport 10250 -j DROP`;
  await on(w1, rule('A'));
  const running = start(['check', file, '--active']);
  const listening = async () => (await on(w1, "ss -Hltn 'sport = :10250'")).stdout !== '';
  let seen = false;
  await waitUntil('a survey listens', PATIENCE_MS, async () => (seen = await listening()));
  running.kill('SIGKILL');
  await running.ended;
  await on(w1, rule('D'));
  expect(seen).toBe(true);
  await waitUntil('nothing listens', PATIENCE_MS, async () => (await on(w1, leftBySurveys)).stdout === '');
});

test('eleven faults at once are found, and nothing else', async () => {
  const machineId = (await on(w1, 'cat /etc/machine-id')).stdout.trim();
  await on(cp, 'systemd-run -q --unit=holder nc -lk 6443; mount -t tmpfs -o size=8g,nr_inodes=1000 tmpfs /opt');
  await on(
    w1,
    `mount -t tmpfs -o size=1m tmpfs /opt
     printf '#!/bin/sh\\nexec /usr/bin/date -d "+10 minutes" "$@"\\n' > /usr/local/bin/date; chmod +x /usr/local/bin/date
     mkdir -p /etc/cni/net.d; echo '{}' > /etc/cni/net.d/05-other.conflist
     echo net.ipv4.ip_forward=0 > /etc/sysctl.d/99-zzz.conf`,
  );
  await on(
    w2,
    `echo ${machineId} > /etc/machine-id
     mount -t tmpfs -o ro tmpfs /opt
     printf '[Swap]\\nWhat=/swapfile\\n' > /etc/systemd/system/swapfile.swap; systemctl daemon-reload
     touch /run/reboot-required
     nft add table inet mine; nft add chain inet mine input '{ type filter hook input priority 0; policy drop; }'
     nft add rule inet mine input ct state established,related accept; nft add rule inet mine input tcp dport 22 accept`,
  );
  const { findings, code } = await checked(inventory);
  expect(code).toBe(6);
  expect(notable(inventory, findings)).toEqual(
    [
      `error ports ${cp}`,
      `error disk-space ${cp}`,
      `error disk-space ${w1}`,
      `error clock-skew ${w1}`,
      `error cni-configuration ${w1}`,
      `error sysctls ${w1}`,
      // One fault, both hosts named.
      `error unique-host ${w1}`,
      `error unique-host ${w2}`,
      `error writable-paths ${w2}`,
      `error swap ${w2}`,
      `warning pending-reboot ${w2}`,
      `error firewall ${w2}`,
    ].toSorted(),
  );
});

test('an init and a join that were cut off are due, another cluster is refused', async () => {
  await lab.reset([cp, w1, w2]);
  await on(
    cp,
    `mkdir -p /etc/kubernetes/manifests /var/lib/kbuild; echo '{}' > /etc/kubernetes/manifests/kube-apiserver.yaml
     echo '{"cluster":"pre","action":"init","job":"kubeadm-init-1"}' > /var/lib/kbuild/marker.json`,
  );
  await on(
    w1,
    `mkdir -p /etc/kubernetes /var/lib/kbuild; echo x > /etc/kubernetes/bootstrap-kubelet.conf
     echo '{"cluster":"pre","action":"join","job":"kubeadm-join-1"}' > /var/lib/kbuild/marker.json`,
  );
  const { findings } = await checked(inventory);
  const halves = findings.filter((one) => one.check === 'half-finished');
  expect(halves.map(({ severity, host, message }) => `${severity} ${host!} ${message.slice(9, 13)}`)).toEqual([
    `due ${cp} init`,
    `due ${w1} join`,
  ]);
  await on(w2, 'mkdir -p /etc/kubernetes; echo x > /etc/kubernetes/kubelet.conf');
  expect((await checked(inventory)).code).toBe(7);
});
