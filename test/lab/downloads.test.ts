/** What users download is taken from there, where the sites answer: a site of the same layout stands for them. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Artifact } from './artifact.ts';
import type { Site } from './downloads.ts';
import type { Keys } from './keys.ts';
import { type PublishedSite, publishedSite, publishRelease } from './published-site.ts';
import type { Recipes } from './recipes.ts';
import { KUBERNETES, VERSIONS } from './versions.ts';

const { version: VERSION, etcd: ETCD } = KUBERNETES[0];
const PROGRAMS = 'kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubeadm kubectl kubelet'.split(' ');
const SITES = ['programs', 'releases', 'images', 'packages'] as const;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const content = (program: string): string => `program ${program}\n`;

let dir = '';
let site: PublishedSite;
let keys: Keys;
let registry = '';

/** The lab that runs is the registry and the site of packages; programs and releases are files of a line. */
beforeAll(async () => {
  const real = await import('./lab.ts');
  await real.up([]);
  const { tools } = await (await import('./build-all.ts')).buildAll();
  keys = await (await import('./keys.ts')).ensureKeys();
  registry = real.REGISTRY_URL;
  dir = await mkdtemp(join(tmpdir(), 'kbuild-lab-'));
  await mkdir(join(dir, 'build'));
  await symlink(real.paths.gnupg, join(dir, 'gnupg'));
  const www = join(dir, 'site');
  for (const program of PROGRAMS) {
    const folder = join(www, `release/v${VERSION}/bin/linux/amd64`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, program), content(program));
  }
  const made = join(dir, 'made');
  await mkdir(made);
  const etcd = ['etcd', 'etcdctl', 'etcdutl'];
  for (const program of [...etcd, 'containerd', 'containerd-shim-runc-v2', 'ctr'])
    await writeFile(join(made, program), content(program));
  const folder = `etcd-v${ETCD}-linux-amd64`;
  const paths = { etcd: `etcd-io/etcd/releases/download/v${ETCD}/${folder}.tar.gz` };
  await publishRelease(
    www,
    paths.etcd,
    etcd.map((name) => `${folder}/${name}`),
    made,
  );
  const containerd = `containerd/containerd/releases/download/v${VERSIONS.containerd}/containerd-${VERSIONS.containerd}-linux-amd64.tar.gz`;
  await publishRelease(www, containerd, ['bin/containerd', 'bin/containerd-shim-runc-v2', 'bin/ctr'], made);
  site = await publishedSite(www);
  vi.resetModules();
  vi.stubEnv('KBUILD_LAB_DIR', dir);
  for (const [variable, url] of Object.entries({
    DOWNLOAD_BASE: `${site.url}/`,
    RELEASES_BASE: site.url,
    IMAGES_BASE: registry,
    FLANNEL_IMAGES_BASE: registry,
    PACKAGES_BASE: `${real.PACKAGES_URL}/kubernetes`,
    PACKAGES_FINGERPRINT: keys.kubernetes,
  }))
    vi.stubEnv(`KBUILD_LAB_${variable}`, url);
  // The registry of the build is the program of the lab that runs.
  const { folderOf } = await import('./artifact.ts');
  await symlink(tools, folderOf((await recipesOf([])).tools));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  vi.resetModules();
  site.close();
  await rm(dir, { recursive: true, force: true });
});

type Asked = readonly Site[];
const answering = async (asked: Asked): Promise<readonly string[]> => {
  const { sitesThatAnswer } = await import('./downloads.ts');
  return [...(await sitesThatAnswer(asked, KUBERNETES.slice(0, 1)))];
};

const recipesOf = async (answered: Asked): Promise<Recipes> => {
  const { recipes } = await import('./recipes.ts');
  const { sites } = await import('./downloads.ts');
  const downloads = { from: sites(), answering: new Set(answered) };
  return recipes({ debian: '', security: '' }, keys, downloads, KUBERNETES.slice(0, 1));
};

const programs = async (answered: Asked): Promise<Artifact> =>
  (await recipesOf(answered)).images.needs!['KUBERNETES_0']!;
const etcd = async (): Promise<Artifact> => (await recipesOf(['releases'])).images.needs!['ETCD_0']!;

test('every site is probed by itself; a site that does not answer, or whose URL is empty, is not used', async () => {
  expect(await answering(SITES)).toEqual([...SITES]);
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', 'http://127.0.0.1:1');
  vi.stubEnv('KBUILD_LAB_FLANNEL_IMAGES_BASE', '');
  expect(await answering(SITES)).toEqual(['releases', 'packages']);
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', site.url);
  vi.stubEnv('KBUILD_LAB_FLANNEL_IMAGES_BASE', registry);
});

test('where all sites answer, nothing is compiled', async () => {
  const { inOrder } = await import('./artifact.ts');
  const everything = ({ images, repositories }: Recipes) => inOrder([images, ...Object.values(repositories)]);
  const compiled = (some: readonly Artifact[]) => some.filter(({ go }) => go).map(({ name }) => name);
  expect(compiled(everything(await recipesOf(SITES)))).toEqual([]);
  expect(compiled(everything(await recipesOf([])))).toContain(`kubernetes-${VERSION}`);
});

describe('a program that is not what its checksum says is refused, and nothing is left of it', () => {
  const refused = async (artifact: Artifact, reason: RegExp): Promise<void> => {
    const { make, isMade } = await import('./artifact.ts');
    await expect(make(artifact)).rejects.toThrow(reason);
    expect(isMade(artifact)).toBe(false);
  };

  test('by the checksum of the site', async () => {
    site.tamper('kubectl');
    await refused(await programs(['programs']), /kubectl: FAILED/);
    site.tamper(`etcd-v${ETCD}-linux-amd64.tar.gz`);
    await refused(await etcd(), /etcd-v.*: FAILED/);
    site.tamper('');
  });

  test('by a file of checksums that is believed instead, which must name all', async () => {
    const sums = join(dir, 'checksums');
    await writeFile(sums, `${sha256('something else')}  v${VERSION}/kubeadm\n`);
    vi.stubEnv('KBUILD_LAB_CHECKSUMS', sums);
    await refused(await programs(['programs']), /kubeadm: FAILED/);
    await refused(await etcd(), /no checksum for etcd-v/);
    await refused((await recipesOf(['images'])).images, /no checksum for kube-apiserver:v/);
    vi.stubEnv('KBUILD_LAB_CHECKSUMS', '');
  });
});

test('what was downloaded is used from then on, whether the site answers or not', async () => {
  const { make } = await import('./artifact.ts');
  const folder = await make(await programs(['programs']));
  expect((await readdir(folder)).sort()).toEqual(PROGRAMS);
  expect(await readFile(join(folder, 'kubeadm'), 'utf8')).toBe(content('kubeadm'));
  expect((await programs([])).recipe).toBe('kubernetes-download');
});

test('releases of other projects are unpacked', async () => {
  const { make } = await import('./artifact.ts');
  expect((await readdir(await make(await etcd()))).sort()).toEqual(['etcd', 'etcdctl', 'etcdutl']);
  const containerd = (await recipesOf(['releases'])).repositories['containerd']!.needs!['CONTAINERD']!;
  expect((await readdir(await make(containerd))).sort()).toEqual(['containerd', 'containerd-shim-runc-v2', 'ctr']);
});

test('packages are taken by the pinned key, and signed anew by the key of the lab', async () => {
  const { make } = await import('./artifact.ts');
  const repository = async (): Promise<Artifact> =>
    (await recipesOf(['packages'])).repositories['kubernetes/v1.36/deb']!;
  vi.stubEnv('KBUILD_LAB_PACKAGES_FINGERPRINT', keys.debian);
  await expect(make(await repository())).rejects.toThrow(/Release.key is not the key/);
  vi.stubEnv('KBUILD_LAB_PACKAGES_FINGERPRINT', keys.kubernetes);
  const folder = await make(await repository());
  const names = (await readdir(join(folder, 'amd64'))).map((name) => name.split('_')[0]);
  expect(names.sort()).toEqual(['kubeadm', 'kubectl', 'kubelet', 'kubernetes-cni']);
  expect(await readFile(join(folder, 'Packages'), 'utf8')).toContain(`Version: ${VERSION}-1.1`);
});

test('images are copied as they are', async () => {
  const { make } = await import('./artifact.ts');
  const { images } = await recipesOf(['images']);
  const folder = await make(images);
  const tag = 'docker/registry/v2/repositories/kube-apiserver/_manifests/tags';
  const digest = await readFile(join(folder, tag, `v${VERSION}`, 'current/link'), 'utf8');
  const answer = await fetch(`${registry}/v2/kube-apiserver/manifests/v${VERSION}`, {
    headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
  });
  expect(digest).toBe(`sha256:${sha256(await answer.text())}`);
});
