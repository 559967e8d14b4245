import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Artifact } from './artifact.ts';
import type { Recipes } from './recipes.ts';
import { KUBERNETES } from './versions.ts';

const VERSION = KUBERNETES[0].version;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const content = (path: string): string => `program ${path}\n`;

let dir = '';
let server: Server;
let tampered = '';

/** A site laid out as dl.k8s.io: /release/v1.36.3/bin/linux/amd64/kubeadm and the same with .sha256. */
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kbuild-lab-'));
  vi.stubEnv('KBUILD_LAB_DIR', dir);
  await mkdir(join(dir, 'build'));
  server = createServer(({ url = '' }, response) => {
    const [, path, suffix] = /^\/release\/(v[\d.]+\/bin\/linux\/amd64\/[a-z-]+)(\.sha256)?$/.exec(url) ?? [];
    if (path === undefined) return response.writeHead(404).end();
    return response.end(
      suffix === undefined ? content(path) + (path.endsWith(tampered || '?') ? 'x' : '') : sha256(content(path)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  server.close();
  await rm(dir, { recursive: true, force: true });
});

const programs = async (answers: boolean): Promise<Artifact> => {
  const { recipes } = await import('./recipes.ts');
  const { downloadSite } = await import('./downloads.ts');
  const all: Recipes = recipes(
    { debian: '', security: '' },
    { debian: '', kubernetes: '', containerd: '', identity: '' },
    { ...downloadSite(), answers },
  );
  return all.images.needs!['KUBERNETES_0']!;
};

test('the programs are built where the site does not answer, and downloaded where it does', async () => {
  const { siteAnswers } = await import('./downloads.ts');
  expect((await programs(await siteAnswers())).recipe).toBe('kubernetes-download');
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', 'http://127.0.0.1:1');
  expect((await programs(await siteAnswers())).recipe).toBe('kubernetes');
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', '');
  expect(await siteAnswers()).toBe(false);
  vi.stubEnv('KBUILD_LAB_DOWNLOAD_BASE', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

test('a program that is not what its checksum says is refused, and nothing is left of it', async () => {
  const { make, isMade } = await import('./artifact.ts');
  tampered = 'kubectl';
  await expect(make(await programs(true))).rejects.toThrow(/kubectl: FAILED/);
  tampered = '';
  const sums = join(dir, 'checksums');
  await writeFile(sums, `${sha256('something else')}  v${VERSION}/kubeadm\n`);
  vi.stubEnv('KBUILD_LAB_CHECKSUMS', sums);
  await expect(make(await programs(true))).rejects.toThrow(/kubeadm: FAILED/);
  vi.stubEnv('KBUILD_LAB_CHECKSUMS', '');
  expect(isMade(await programs(true))).toBe(false);
});

test('what was downloaded is used from then on, whether the site answers or not', async () => {
  const { make } = await import('./artifact.ts');
  const folder = await make(await programs(true));
  const names = [
    'kube-apiserver',
    'kube-controller-manager',
    'kube-proxy',
    'kube-scheduler',
    'kubeadm',
    'kubectl',
    'kubelet',
  ];
  expect((await readdir(folder)).sort()).toEqual(names);
  expect(await readFile(join(folder, 'kubeadm'), 'utf8')).toBe(content(`v${VERSION}/bin/linux/amd64/kubeadm`));
  expect((await programs(false)).recipe).toBe('kubernetes-download');
});
