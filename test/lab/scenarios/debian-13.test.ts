/**
 * Debian 13, where it differs from 12: systemd 257, apt 3 with its own check of signatures (sqv), dpkg 1.22's words, no
 * /etc/sysctl.conf. One node for everything, from bare to bare.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';

const HOST = 'tcp1';

let folder: string;
let file: string;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const on = async (command: string): Promise<string> => (await lab.inside(HOST, command)).stdout.trim();

/** Another package tool, as dpkg sees one: it holds the lock until a job of kbuild says that it waits, and then says so. */
const busy = `import fcntl, glob, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
end = time.monotonic() + 300
while time.monotonic() < end and not any("waiting: " in open(output).read() for output in glob.glob("/run/kbuild/**/output", recursive=True)):
    time.sleep(0.1)
open("/root/waited", "w").write(str(time.monotonic() < end))
`;

beforeAll(async () => {
  await lab.up([HOST], { os: 'trixie' });
  await lab.reset([HOST]);
  const inventory = await lab.inventory([HOST]);
  const hosts = inventory.hosts.map((host) => ({ ...host, taints: [] }));
  ({ folder, file } = inventoryFile({ ...inventory, name: 'trixie', hosts }));
});

afterAll(() => lab.down([HOST]));

test('a host stays Debian 13 over a reset of the lab', async () => {
  expect(await on('. /etc/os-release; echo "$VERSION_CODENAME"; ls /etc/sysctl.conf 2>/dev/null')).toBe('trixie');
  expect(lab.hostSettings(HOST).os).toBe('trixie');
});

test('up builds the cluster, and waits for a package tool that is at work', async () => {
  await lab.inside(HOST, 'systemd-run --quiet --collect python3 -c "$(cat)"', busy);
  const ran = ok(await up());
  console.log(`one node of Debian 13: ${ran.seconds.toFixed(1)} s`);
  expect(await on('cat /root/waited')).toBe('True');
  expect(ran.stderr).toMatch(/tcp1: waiting: \S*lock-frontend is held by process \d+ \(python3\)/);
  expect(await nodes(HOST)).toEqual({ [HOST]: true });
  expect(await kubectl(HOST, `get node ${HOST} -o jsonpath='{.status.nodeInfo.osImage}'`)).toContain('trixie');
});

test('a second run has nothing to do', async () => {
  unchanged(await up());
});

test('reset takes it all back', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'trixie'));
  const left = `ls -d /etc/kubernetes/*.conf /etc/kubernetes/pki/* /var/lib/etcd/member /etc/cni/net.d/* /var/lib/kbuild/* \
      /etc/{sysctl.d,modules-load.d,apt/sources.list.d,apt/keyrings}/*kbuild* 2>/dev/null
    iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
    ip -o link show | grep -E 'cni0|flannel|veth'
    ss -Hltn 'sport = :6443 or sport = :10250 or sport = :2379'
    grep /var/lib/kubelet/ /proc/mounts`;
  expect(await on(left)).toBe('');
});
