/**
 * Experiments from reports and files of other people's clusters (docs/reliability.md): each fault is refused, or found by a check, before
 * a host is changed. The last one cannot be: the nft of the lab's kube-proxy image is as old as those that die at a set of a newer nft.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { checked } from '../findings.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';

const HOSTS = ['fldcp1', 'fldw1'] as const;
const [CP, WORKER] = HOSTS;
const NFTABLES = { plugin: 'flannel', kubeProxy: 'nftables' };

let file: string;
let args: readonly string[];
let plain: lab.LabInventory;

const on = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout.trim();

/** `up` of the lab's inventory with these settings. */
function upWith(more: object): Promise<Ran> {
  writeFileSync(file, stringify({ ...plain, ...more }, { aliasDuplicateObjects: false }));
  return kbuild(...args);
}

const kubeadmWith = (apiServer: object): object => ({
  kubeadm: { ...(plain['kubeadm'] as object), cluster: { apiServer } },
});
const kubeletWith = (config: object): object => ({
  kubelet: { config: { ...(plain['kubelet'] as { readonly config: object }).config, ...config } },
});

/** No package of kbuild's is on the host, and no file. */
const isUntouched = (host: string): Promise<string> =>
  on(
    host,
    `dpkg-query -W -f '\${Package}' kubelet containerd.io 2>/dev/null; ls -d /etc/*/*kbuild* /var/lib/kbuild 2>/dev/null`,
  );

beforeAll(async () => {
  await lab.up([CP]);
  // Its nft is one of those whose sets older ones die of.
  await lab.up([WORKER], { os: 'trixie' });
  await lab.reset(HOSTS);
  plain = { ...(await lab.inventory(HOSTS)), name: 'field' };
  const made = inventoryFile(plain);
  ({ file } = made);
  process.env['XDG_STATE_HOME'] = join(made.folder, 'state');
  args = ['up', file, '--yes', '--kubeconfig', join(made.folder, 'admin.conf')];
});

afterAll(() => lab.down(HOSTS));

test.each([
  [
    'L1: extraArgs as a map, as v1beta3 had them',
    () => kubeadmWith({ extraArgs: { profiling: 'false' } }),
    /extraArgs[\s\S]*name: profiling/,
  ],
  ['L2: a field that no kubelet knows', () => kubeletWith({ maxPod: 50 }), /maxPod\b[\s\S]*maxPods/],
  ['L4: text for a list of names', () => kubeadmWith({ certSANs: 'myhost' }), /certSANs/],
] as const)('%s is refused at its line, and the hosts stay as they were', async (_, settings, words) => {
  const ran = await upWith(settings());
  expect(ran.code, ran.stderr).toBe(2);
  expect(ran.stderr).toMatch(words);
  expect(ran.stderr).toMatch(/inventory\.yaml:\d+/);
  for (const host of HOSTS) expect(await isUntouched(host), host).toBe('');
});

test('L3: a resolvConf that the hosts do not have stops up at its check', async () => {
  const ran = await upWith(kubeletWith({ resolvConf: '/run/systemd/resolve/resolv.conf' }));
  expect(ran.code, ran.stderr).not.toBe(0);
  for (const host of HOSTS) expect(ran.stderr).toMatch(new RegExp(`${host}[^\\n]*/run/systemd/resolve/resolv\\.conf`));
  for (const host of HOSTS) expect(await isUntouched(host), host).toBe('');
});

test('what else hosts of people bring is found by check', async () => {
  await on(
    WORKER,
    'mkdir -p /opt && mount -t tmpfs -o noexec tmpfs /opt; echo KUBELET_EXTRA_ARGS=--pod-infra-container-image=pause >/etc/default/kubelet',
  );
  await on(WORKER, String.raw`sed -i 's/^127\.0\.0\.1.*//' /etc/hosts`);
  await on(
    WORKER,
    `printf '[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n' >/etc/systemd/system/fapolicyd.service
     systemctl enable --now fapolicyd`,
  );
  const { findings } = await checked(plain);
  const found = findings.filter(({ host }) => host === WORKER).map(({ severity, check }) => `${severity} ${check}`);
  expect(found).toEqual(
    expect.arrayContaining([
      ...['error executable-paths', 'error kubelet-arguments', 'warning local-names', 'warning fapolicyd'],
    ]),
  );
  await lab.reset([WORKER]);
});

test('L5: where sets of a newer nft are to be expected, check names the first version with a mended image', async () => {
  const kubernetes = { ...(plain['kubernetes'] as object), version: '1.36.2' };
  const { findings } = await checked({ ...plain, kubernetes, network: NFTABLES });
  const found = findings.filter(({ check }) => check === 'kube-proxy-nft');
  expect(found.map(({ severity, host }) => `${severity} ${host!}`)).toEqual([`warning ${WORKER}`]);
  const newer = await checked({ ...plain, network: NFTABLES });
  expect(newer.findings.filter(({ check }) => check === 'kube-proxy-nft')).toEqual([]);
});

test('L5: where the image dies nevertheless, up says why', async () => {
  expect((await lab.inside(WORKER, "nft 'add table inet x; add set inet x s { type ipv4_addr; }'")).code).toBe(0);
  const ran = await upWith({ network: NFTABLES });
  console.log(`up with a kube-proxy that dies of a set: exit ${String(ran.code)} after ${ran.seconds.toFixed(0)} s`);
  expect(ran.code, ran.stderr).toBe(5);
  expect(ran.stderr).toMatch(/cause: the nft of this kube-proxy image is older than the nft of the host/);
  expect(ran.stderr).toMatch(/nftables sync failed.*segmentation fault/);
});
