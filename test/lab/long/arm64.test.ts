/**
 * A host of arm64 beside one of amd64, each as the control plane and as the worker. The programs of its userland are Debian's for arm64,
 * and qemu-user runs them; its kernel, systemd and sshd are the machine's. No container can run there, so no cluster is built: what is
 * proved are facts, checks, and which programs are downloaded and run.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { arm64Programs } from '../arm64-programs.ts';
import { inventoryFile, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { type DescribedImages, describedImages, publishedArm64 } from '../published-arm64.ts';
import type { PublishedPrograms } from '../published-programs.ts';

const AMD = 'archcp1';
const ARM = 'archw1';
const HOSTS = [AMD, ARM];

let site: PublishedPrograms;
let images: DescribedImages;

/** What a host answers by SSH, which on the host of arm64 leads to that userland. */
const on = async (host: string, command: string): Promise<string> => (await lab.ssh(host, command)).stdout.trim();

/** The file of an inventory in which this host is the control plane. `own`: of each host. */
async function inventoryOf(controlPlane: string, own: object = { installFrom: 'binaries' }): Promise<string> {
  const plain = await lab.inventory(HOSTS);
  const runtime = {
    ...(plain['runtime'] as object),
    registries: ['registry.k8s.io', 'ghcr.io'].map((host) => ({ host, mirrors: [images.url] })),
  };
  const hosts = plain.hosts.map((host) => ({
    ...host,
    role: host.name === controlPlane ? 'control-plane' : 'worker',
    ...own,
  }));
  return inventoryFile({ ...plain, name: 'architectures', runtime, downloads: site.downloads, hosts }).file;
}

interface Document {
  readonly findings: readonly { readonly check: string; readonly host: string; readonly message: string }[];
}

/** What the check `downloads` finds, by host. */
async function foundBy(file: string): Promise<readonly string[]> {
  const { stdout } = await kbuild('check', file, '--active', '--json');
  const { findings } = JSON.parse(stdout) as Document;
  return findings.filter(({ check }) => check === 'downloads').map(({ host, message }) => `${host}: ${message}`);
}

beforeAll(async () => {
  const programs = await arm64Programs();
  await lab.up([AMD]);
  await lab.up([ARM], { os: 'arm64' });
  await lab.reset(HOSTS);
  site = await publishedArm64(programs);
  images = await describedImages();
});

afterEach(() => {
  images.only('', ['amd64', 'arm64']);
  site.tamper('');
});

afterAll(async () => {
  site.close();
  images.close();
  await lab.down(HOSTS);
});

test('all facts of a host of arm64 are known, and its architecture is one of them', async () => {
  expect(await on(ARM, 'uname -m; dpkg --print-architecture')).toBe('aarch64\narm64');
  const { stdout } = ok(await kbuild('facts', await inventoryOf(AMD)));
  const { hosts } = JSON.parse(stdout) as { hosts: Record<string, Record<string, unknown>> };
  expect({ [AMD]: hosts[AMD]?.['arch'], [ARM]: hosts[ARM]?.['arch'] }).toEqual({ [AMD]: 'x86_64', [ARM]: 'aarch64' });
  const unknown = Object.entries(hosts[ARM]!).filter(
    ([, fact]) => typeof fact === 'object' && fact !== null && 'unknown' in fact,
  );
  expect(unknown).toEqual([]);
});

describe.each([
  ['a worker of arm64 and a control plane of amd64', AMD],
  ['a control plane of arm64 and a worker of amd64', ARM],
])('%s', (_, controlPlane) => {
  test('find everything where programs and images are there for both', async () => {
    expect(await foundBy(await inventoryOf(controlPlane))).toEqual([]);
    expect(images.pulled).toEqual([]);
  });

  test('find an image that is there for amd64 alone, on the host of arm64', async () => {
    images.only('kube-proxy', ['amd64']);
    const found = await foundBy(await inventoryOf(controlPlane));
    expect(found).toEqual([
      expect.stringMatching(`^${ARM}: cannot get registry.k8s.io/kube-proxy:.* has it for amd64`),
    ]);
  });

  test('find a repository that has packages for amd64 alone, on the host of arm64', async () => {
    const found = await foundBy(await inventoryOf(controlPlane, {}));
    expect(found).toContainEqual(expect.stringMatching(`^${ARM}: .*Packages: has no version 1\\.36\\.3- for arm64`));
    expect(found.filter((one) => one.startsWith(AMD))).toEqual([]);
  });
});

describe('up on a worker of arm64', () => {
  const packages = async () => kbuild('up', await inventoryOf(AMD), '--phase', 'packages', '--yes');

  test('installs no program for arm64 that is not what its checksum names', async () => {
    site.tamper('/arm64/kubelet');
    const ran = await packages();
    expect(ran.code).toBe(4);
    expect(ran.stderr).toMatch(/bin\/linux\/arm64\/kubelet is not the file that its checksum names/);
    expect(await on(ARM, 'ls /usr/local/bin')).toBe('systemd-run');
  });

  test('installs programs for arm64, which run there, and those for amd64 on the other host', async () => {
    const ran = ok(await packages());
    expect(ran.stderr).toMatch(/install .*kubelet 1\.36\.3 \(found none\).*, by checksums alone \(no cosign\)/);
    // The architecture in the header of ELF: 183 is aarch64, 62 is x86-64.
    const machine = 'od -An -tu1 -j18 -N1 /usr/local/bin/kubelet';
    expect([await on(ARM, machine), await on(AMD, machine)]).toEqual(['183', '62']);
    expect(await on(ARM, 'kubelet --version')).toMatch(/^Kubernetes v1\.36\.3/);
    expect(await on(ARM, 'crictl --version')).toContain('v1.36.0');
    expect(await on(ARM, 'CNI_COMMAND=VERSION /opt/cni/bin/loopback </dev/null')).toContain('supportedVersions');
  });

  test('has nothing to do the second time', async () => {
    const { stderr } = ok(await packages());
    expect(stderr).not.toContain('install ');
  });
});
