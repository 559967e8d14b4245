import * as z from 'zod';
import { sha256, text, url, version } from './formats.ts';

const PUBLISHED = 'Where its SHA-256 is published; {url} stands for the file, {folder} for the folder of that.';

const place = () =>
  text(
    /^(?:\{url\}|\{folder\}\/|https?:\/\/)[^\s'"`\\]*$/,
    'a URL, or what follows {url} or {folder}/, e.g. "{url}.sha256"',
  );

const address = (what: string, preset: string) =>
  url()
    .default(preset)
    .meta({
      description: `URL of ${what}; {version} stands for the version, {arch} for amd64 or arm64, as each host is.`,
    });

const download = (what: string, preset: string, checksums: string, more: object = {}) =>
  z
    .strictObject({
      url: address(what, preset),
      checksums: place().default(checksums).meta({ description: PUBLISHED }),
      ...more,
    })
    .prefault({})
    .meta({ description: `Where ${what} is published.` });

const own = (what: string) => ({
  version: version()
    .exactOptional()
    .meta({ description: `Default: ${what}.` }),
});

const signatures = z.enum(['auto', 'required', 'off']).default('auto').meta({
  description:
    'Signatures of the Kubernetes project, beside each file as .sig and .cert. "auto": a host that has the program cosign verifies them and installs nothing that it cannot verify; a host without cosign compares checksums alone. "required": a host without cosign installs nothing. "off": for a source without signatures. Files with a SHA-256 of the inventory are verified only with "required".',
});

const RELEASES = 'releases/download/v{version}';

const CRI_DOCKERD = 'the archive of cri-dockerd';

const criDockerd = z
  .strictObject({
    url: address(CRI_DOCKERD, `https://github.com/Mirantis/cri-dockerd/${RELEASES}/cri-dockerd-{version}.{arch}.tgz`),
    checksums: place()
      .exactOptional()
      .meta({
        examples: ['{folder}/sha256sums'],
        description: `${PUBLISHED} Without it sha256 must name that of the file.`,
      }),
    ...own('"0.4.10"'),
  })
  .prefault({})
  .meta({
    description:
      'Where the archive of cri-dockerd is published, which every host with runtime.name: docker gets. Its project publishes no checksums.',
  });

/** `downloads:` */
export const downloads = z
  .strictObject({
    kubernetes: download(
      'kubeadm, kubelet and kubectl ({name})',
      'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{name}',
      '{url}.sha256',
      { signatures },
    ),
    containerd: download(
      'the archive of containerd',
      `https://github.com/containerd/containerd/${RELEASES}/containerd-{version}-linux-{arch}.tar.gz`,
      '{url}.sha256sum',
    ),
    runc: download(
      'runc',
      `https://github.com/opencontainers/runc/${RELEASES}/runc.{arch}`,
      '{folder}/runc.sha256sum',
      own('"1.4.2", and "1.3.6" with a containerd before 2.3'),
    ),
    cniPlugins: download(
      'the archive of the CNI plugins',
      `https://github.com/containernetworking/plugins/${RELEASES}/cni-plugins-linux-{arch}-v{version}.tgz`,
      '{url}.sha256',
      own('"1.9.1"'),
    ),
    crictl: download(
      'the archive of crictl',
      `https://github.com/kubernetes-sigs/cri-tools/${RELEASES}/crictl-v{version}-linux-{arch}.tar.gz`,
      '{url}.sha256',
      own('the first release of the Kubernetes minor'),
    ),
    criDockerd,
    sha256: z
      .record(url(), sha256())
      .default({})
      .meta({
        examples: [{ 'https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet': '0123456789abcdef'.repeat(4) }],
        description: 'SHA-256 by URL. These files must have it, and what is published beside them is not read.',
      }),
  })
  .prefault({})
  .meta({
    description:
      'Where hosts with installFrom: binaries, or with Docker Engine, download programs from: over https, or with a SHA-256 of each file below sha256.',
  });
