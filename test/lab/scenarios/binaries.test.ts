/**
 * Hosts that get published programs instead of packages: a control plane and a worker of Debian, from bare to bare. The site that
 * they download from is laid out as dl.k8s.io and GitHub's releases, and has the programs of the lab's own packages.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { nodes, startEcho } from '../pods.ts';
import { type PublishedPrograms, publishedPrograms } from '../published-programs.ts';

const CP = 'bincp1';
const WORKER = 'binw1';

let folder: string;
let file: string;
let site: PublishedPrograms;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const on = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout.trim();
const LEFT = `ls -d /usr/local/bin/* /opt/bin /opt/cni/bin/[!f]* /var/lib/kbuild/* /etc/systemd/system/{kubelet,containerd}* \
  /etc/profile.d/*kbuild* 2>/dev/null; systemctl is-active containerd kubelet | grep -v inactive`;

beforeAll(async () => {
  await lab.up([CP, WORKER]);
  await lab.reset([CP, WORKER]);
  site = await publishedPrograms(['1.36']);
  const { downloads } = site;
  const plain = await lab.inventory([CP, WORKER]);
  ({ folder, file } = inventoryFile({ ...plain, name: 'binaries', installFrom: 'binaries', downloads }));
});

afterAll(async () => {
  site.close();
  await lab.down([CP, WORKER]);
});

test('a program that is not what its checksum names is told, and nothing of it is installed', async () => {
  site.tamper('/kubelet');
  const ran = await up();
  site.tamper('');
  expect(ran.code).toBe(4);
  expect(ran.stderr).toMatch(/\/kubelet is not the file that its checksum names \(found \w{64}, expected \w{64}\)/);
  expect(await on(WORKER, 'ls /usr/local/bin | grep kube')).toBe('');
});

test('up builds the cluster from programs, and no package of Kubernetes is there', async () => {
  ok(await up());
  expect(await nodes(CP)).toEqual({ [CP]: true, [WORKER]: true });
  expect(await on(CP, `dpkg-query -W 'kube*' 'containerd*' 2>/dev/null | awk '$2'`)).toBe('');
  expect(await on(WORKER, 'readlink /proc/$(pidof kubelet)/exe /proc/$(pidof containerd)/exe')).toBe(
    '/usr/local/bin/kubelet\n/usr/local/bin/containerd',
  );
  expect(await startEcho(CP, 'echo')).toHaveLength(2);
});

test('a second run has nothing to do', async () => {
  expect(ok(await up()).stdout).toContain('nothing to do');
});

test('a download that is cut off leaves the old program, and the next run mends it', async () => {
  await lab.inside(WORKER, 'echo >>/usr/local/bin/kubectl; sha256sum /usr/local/bin/kubectl >/root/sum');
  site.cut('/kubectl');
  const ran = await up();
  site.cut('');
  expect(ran.code).toBe(4);
  expect(ran.stderr).toContain('/kubectl cannot be downloaded');
  expect(await on(WORKER, 'sha256sum --status -c /root/sum && echo same')).toBe('same');
  const { stdout } = ok(await up());
  expect(stdout).toMatch(/install .*kubectl 1\.36\.3 \(found 1\.36\.3 half installed\)/);
  expect(await on(WORKER, 'kubectl version --client | head -n 1')).toContain('v1.36.3');
});

test('remove and reset take the programs and units along', async () => {
  ok(await kbuild('remove', file, WORKER, '--yes'));
  expect(await on(WORKER, LEFT)).toBe('');
  ok(await kbuild('reset', file, '--yes-destroy', 'binaries'));
  expect(await on(CP, LEFT)).toBe('');
});
