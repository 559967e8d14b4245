/** What hosts without packages download, laid out as dl.k8s.io and GitHub's releases: the programs of the lab's own packages. */
import { copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY } from './network-plan.ts';
import { paths } from './paths.ts';
import { type PublishedSite, publishedSite, publishRelease, sha256 } from './published-site.ts';
import { run } from './run.ts';
import { VERSIONS, versionOf } from './versions.ts';

/** A running site with programs, and `downloads:` of an inventory whose hosts use it. */
export interface PublishedPrograms extends PublishedSite {
  readonly downloads: object;
}

/** Of Debian, whatever its version: the lab names it so. */
export const RUNC = '1.3.6';

/** Where releases of a project on GitHub lie, below its name. */
export const RELEASES = 'releases/download';

async function unpacked(folder: string, repository: string, packages: readonly RegExp[]): Promise<string> {
  const pool = join(paths.www, repository);
  mkdirSync(folder, { recursive: true });
  for (const pattern of packages) {
    const name = readdirSync(pool).find((file) => pattern.test(file));
    if (name === undefined) throw new Error(`${pool} has no ${String(pattern)}`);
    await run('dpkg-deb', ['-x', join(pool, name), folder]);
  }
  return folder;
}

async function publishKubernetes(folder: string, minor: string): Promise<void> {
  const from = await unpacked(join(folder, '.packages', minor), `kubernetes/v${minor}/deb/amd64`, [
    ...['kubeadm', 'kubectl', 'kubelet'].map((name) => new RegExp(`^${name}_${versionOf(minor)}-`)),
    /^kubernetes-cni_/,
  ]);
  const to = join(folder, `release/v${versionOf(minor)}/bin/linux/amd64`);
  mkdirSync(to, { recursive: true });
  for (const name of ['kubeadm', 'kubelet', 'kubectl']) copyFileSync(join(from, 'usr/bin', name), join(to, name));
}

/** Serves a folder of programs in that layout. `close` removes it. */
export async function servedFrom(folder: string): Promise<PublishedPrograms> {
  const site = await publishedSite(folder, GATEWAY);
  const release = (project: string, file: string): object => ({
    url: `${site.url}/${project}/${RELEASES}/v{version}/${file}`,
  });
  return {
    ...site,
    close: () => {
      site.close();
      void rm(folder, { recursive: true });
    },
    downloads: {
      kubernetes: { url: `${site.url}/release/v{version}/bin/linux/{arch}/{name}` },
      containerd: release('containerd/containerd', 'containerd-{version}-linux-{arch}.tar.gz'),
      runc: release('opencontainers/runc', 'runc.{arch}'),
      cniPlugins: release('containernetworking/plugins', 'cni-plugins-linux-{arch}-v{version}.tgz'),
      crictl: release('kubernetes-sigs/cri-tools', 'crictl-v{version}-linux-{arch}.tar.gz'),
      // Without TLS the inventory must name them.
      sha256: Object.fromEntries(
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((path) => statSync(join(folder, path)).isFile())
          .map((path) => [`${site.url}/${path}`, sha256(join(folder, path))]),
      ),
    },
  };
}

/** Serves the programs of these minors to hosts. `close` removes them again. */
export async function publishedPrograms(minors: readonly string[]): Promise<PublishedPrograms> {
  const folder = await mkdtemp('/var/tmp/kbuild-lab-site-');
  for (const minor of minors) await publishKubernetes(folder, minor);
  const plugins = join(folder, '.packages', minors[0]!, 'opt/cni/bin');
  await publishRelease(
    folder,
    `containernetworking/plugins/${RELEASES}/v${VERSIONS.cniPlugins}/cni-plugins-linux-amd64-v${VERSIONS.cniPlugins}.tgz`,
    readdirSync(plugins),
    plugins,
  );
  const containerd = await unpacked(
    join(folder, '.packages/containerd'),
    'containerd/dists/bookworm/pool/stable/amd64',
    [/^containerd\.io_/],
  );
  const { containerd: version } = VERSIONS;
  await publishRelease(
    folder,
    `containerd/containerd/${RELEASES}/v${version}/containerd-${version}-linux-amd64.tar.gz`,
    ['bin/containerd', 'bin/containerd-shim-runc-v2', 'bin/ctr'],
    join(containerd, 'usr/bin'),
  );
  const runc = join(folder, `opencontainers/runc/${RELEASES}/v${RUNC}`);
  mkdirSync(runc, { recursive: true });
  copyFileSync(join(containerd, 'usr/bin/runc'), join(runc, 'runc.amd64'));
  const tools = await unpacked(join(folder, '.packages/tools'), 'kubernetes/v1.37/deb/amd64', [/^cri-tools_/]);
  for (const minor of minors) {
    const archive = `kubernetes-sigs/cri-tools/${RELEASES}/v${minor}.0/crictl-v${minor}.0-linux-amd64.tar.gz`;
    await publishRelease(folder, archive, ['crictl'], join(tools, 'usr/bin'));
  }
  await rm(join(folder, '.packages'), { recursive: true });
  return servedFrom(folder);
}
