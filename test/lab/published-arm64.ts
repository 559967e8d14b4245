/** Where hosts of two architectures download from: programs laid out as dl.k8s.io and GitHub's releases, and images that are only described. */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Arm64Programs } from './arm64-programs.ts';
import { GATEWAY } from './network-plan.ts';
import { RELEASES, RUNC, servedFrom, type PublishedPrograms } from './published-programs.ts';
import { publishRelease } from './published-site.ts';
import { VERSIONS } from './versions.ts';

const ARCHITECTURES = ['amd64', 'arm64'] as const;

/**
 * Serves programs. kubeadm, kubelet and kubectl are there for both architectures, crictl and the CNI plugins are real for arm64 alone.
 * Of containerd and runc there is a name and a checksum: no test installs them from here. `close` removes all again.
 */
export async function publishedArm64(programs: Arm64Programs): Promise<PublishedPrograms> {
  const folder = await mkdtemp('/var/tmp/kbuild-lab-site-');
  const { version, minor } = programs;
  for (const architecture of ARCHITECTURES) {
    const to = join(folder, `release/v${version}/bin/linux/${architecture}`);
    mkdirSync(to, { recursive: true });
    for (const name of ['kubeadm', 'kubelet', 'kubectl'] as const)
      copyFileSync(join(programs.kubernetes(architecture, name), name), join(to, name));
    const plugins = `containernetworking/plugins/${RELEASES}/v${VERSIONS.cniPlugins}`;
    await publishRelease(
      folder,
      `${plugins}/cni-plugins-linux-${architecture}-v${VERSIONS.cniPlugins}.tgz`,
      readdirSync(programs.plugins),
      programs.plugins,
    );
    const crictl = `kubernetes-sigs/cri-tools/${RELEASES}/v${minor}.0/crictl-v${minor}.0-linux-${architecture}.tar.gz`;
    await publishRelease(folder, crictl, ['crictl'], programs.crictl);
    const named = [
      `containerd/containerd/${RELEASES}/v${VERSIONS.containerd}/containerd-${VERSIONS.containerd}-linux-${architecture}.tar.gz`,
      `opencontainers/runc/${RELEASES}/v${RUNC}/runc.${architecture}`,
    ];
    for (const path of named) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), architecture);
    }
  }
  return servedFrom(folder);
}

/** A registry that has an index for every image, and nothing behind it. */
export interface DescribedImages {
  readonly url: string;
  /** The architectures that the index of images with this in their name has from now on. Default: both. */
  readonly only: (name: string, architectures: readonly string[]) => void;
  /** Paths of layers and configurations that hosts asked for. */
  readonly pulled: readonly string[];
  readonly close: () => void;
}

/** Starts such a registry where hosts reach it. */
export async function describedImages(): Promise<DescribedImages> {
  const pulled: string[] = [];
  let exception: { readonly name: string; readonly architectures: readonly string[] } | undefined;
  const server = createServer(({ url = '' }, response) => {
    if (url.includes('/blobs/')) pulled.push(url);
    if (url.includes('/tags/list')) return response.end(JSON.stringify({ name: 'any', tags: ['any'] }));
    const has = exception !== undefined && url.includes(exception.name) ? exception.architectures : ARCHITECTURES;
    const manifests = has.map((architecture, n) => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest: `sha256:${String(n).repeat(64)}`,
      size: 1,
      platform: { architecture, os: 'linux' },
    }));
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    return response
      .setHeader('content-type', mediaType)
      .end(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
  });
  await new Promise<void>((resolve) => server.listen(0, GATEWAY, resolve));
  return {
    url: `http://${GATEWAY}:${String((server.address() as AddressInfo).port)}`,
    only: (name, architectures) => {
      exception = { name, architectures };
    },
    pulled,
    close: () => server.close(),
  };
}
