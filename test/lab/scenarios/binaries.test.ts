/**
 * Hosts that get published programs instead of packages: a control plane and a worker of Debian, because the inventory wants it,
 * and a worker of Flatcar, which has no packages; from bare to bare. The site that they download from is laid out as dl.k8s.io and
 * GitHub's releases, and has the programs of the lab's own packages.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { GATEWAY, PRIVATE_REGISTRY_PORT } from '../network-plan.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes, startEcho } from '../pods.ts';
import { type PublishedPrograms, publishedPrograms } from '../published-programs.ts';

const CP = 'bincp1';
const WORKER = 'binw1';
const FLATCAR = 'binw2';
const PRIVATE = `${GATEWAY}:${String(PRIVATE_REGISTRY_PORT)}`;
const HOSTS = [CP, WORKER, FLATCAR];

let folder: string;
let file: string;
let site: PublishedPrograms;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const on = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout.trim();
const LEFT = `ls -d /usr/local/bin/* /opt/bin /opt/cni/bin/[!f]* /var/lib/kbuild/* \
  /etc/profile.d/*kbuild* /usr/local/share/ca-certificates/* 2>/dev/null; find /etc/systemd/system -type f -name '*kube*' -o -type f -name '*containerd*'; systemctl is-active containerd kubelet | grep -v inactive`;

beforeAll(async () => {
  await lab.up([CP, WORKER]);
  await lab.up([FLATCAR], { os: 'flatcar' });
  await lab.reset(HOSTS);
  site = await publishedPrograms(['1.36']);
  const { downloads } = site;
  const plain = await lab.inventory(HOSTS);
  const own: Readonly<Record<string, object>> = {
    [CP]: { installFrom: 'binaries' },
    [WORKER]: { installFrom: 'binaries', packages: ['ipvsadm'], trustedCAs: [lab.tls.ca] },
  };
  const hosts = plain.hosts.map((host) => ({ ...host, ...own[host.name] }));
  ({ folder, file } = inventoryFile({ ...plain, name: 'binaries', downloads, hosts }));
});

afterAll(async () => {
  site.close();
  await lab.down(HOSTS);
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
  expect(await nodes(CP)).toEqual({ [CP]: true, [WORKER]: true, [FLATCAR]: true });
  expect(await on(CP, `dpkg-query -W 'kube*' 'containerd*' 2>/dev/null | awk '$2'`)).toBe('');
  expect(await on(WORKER, 'readlink /proc/$(pidof kubelet)/exe /proc/$(pidof containerd)/exe')).toBe(
    '/usr/local/bin/kubelet\n/usr/local/bin/containerd',
  );
  expect(await on(FLATCAR, 'readlink /proc/$(pidof kubelet)/exe /proc/$(pidof containerd)/exe; touch /usr/x')).toBe(
    '/opt/bin/kubelet\n/usr/bin/containerd',
  );
  expect(await on(FLATCAR, 'tr "\\0" "\\n" </proc/$(pidof containerd)/environ | grep CONTAINERD_CONFIG')).toBe(
    'CONTAINERD_CONFIG=/etc/containerd/config.toml',
  );
  const pods = await startEcho(CP, 'echo');
  expect(pods.map(({ node }) => node).toSorted()).toEqual(HOSTS.toSorted());
  for (const { ip } of pods) expect(await on(FLATCAR, `curl -sS -m 10 http://${ip}:8080/hostname`)).toMatch(/^echo-/);
});

test('a host has the packages and trusts the authorities that the inventory names for it', async () => {
  expect(await on(WORKER, 'dpkg-query -W -f "\\${Status}" ipvsadm')).toBe('install ok installed');
  const asked = `curl -sS -m 10 -o /dev/null -w '%{http_code}' https://${PRIVATE}/v2/ 2>&1 | head -n 1`;
  expect(await on(WORKER, asked)).toContain('401');
  expect(await on(CP, asked)).toContain('SSL certificate problem');
});

test('a second run has nothing to do', async () => {
  unchanged(await up());
});

test('a download that is cut off leaves the old program, and the next run mends it', async () => {
  await lab.inside(WORKER, 'echo >>/usr/local/bin/kubectl; sha256sum /usr/local/bin/kubectl >/root/sum');
  site.cut('/kubectl');
  const ran = await up();
  site.cut('');
  expect(ran.code).toBe(4);
  expect(ran.stderr).toContain('/kubectl cannot be downloaded');
  expect(await on(WORKER, 'sha256sum --status -c /root/sum && echo same')).toBe('same');
  const { stderr } = ok(await up());
  expect(stderr).toMatch(/install .*kubectl 1\.36\.3 \(found 1\.36\.3 half installed\)/);
  expect(await on(WORKER, 'kubectl version --client | head -n 1')).toContain('v1.36.3');
});

test('remove and reset take the programs and units along', async () => {
  ok(await kbuild('remove', WORKER, '-i', file, '--yes'));
  expect(await on(WORKER, LEFT)).toBe('');
  ok(await kbuild('reset', file, '--yes-destroy', 'binaries'));
  expect(await on(CP, LEFT)).toBe('');
  // containerd is a part of the image: it stays, with the configuration of the image.
  expect(await on(FLATCAR, `${LEFT} | grep -v containerd; ls /etc/containerd/config.toml 2>/dev/null`)).toBe('active');
});
