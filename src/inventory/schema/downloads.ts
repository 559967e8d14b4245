import * as z from 'zod';
import { containerd } from '../../runtime/containerd.value.ts';
import { sha256, text, url, urlOrFile, version } from './formats.ts';

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

const signatures = z
  .enum(['auto', 'required', 'off'])
  .default('auto')
  .meta({
    description:
      'Signatures of the Kubernetes project, beside each file as .sig and .cert. "auto": a host that has the ' +
      'program cosign verifies them and installs nothing that it cannot verify; a host without cosign compares ' +
      'checksums alone. "required": a host without cosign installs nothing. "off": for a source without ' +
      'signatures. Files with a SHA-256 of the inventory are verified only with "required".',
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
      'Where the archive of cri-dockerd is published, which every host with runtime.name: docker gets. Its ' +
      'project publishes no checksums.',
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
      'Where hosts with installFrom: binaries, or with Docker Engine, download programs from: over https, or ' +
      'with a SHA-256 of each file below sha256.',
  });

/** The fingerprint that pins a signing key. */
export const fingerprint = () =>
  text(/^(?:[0-9A-Fa-f]{4} {0,2}){10}$/, 'the 40 hexadecimal digits of the primary key’s fingerprint');

/** The signing key of a repository. */
export const key = (description: string) => urlOrFile().exactOptional().meta({ description });

/** Settings whose defaults are the runtime's; editors and the documentation show those of the default runtime. */
const DEFAULTS = containerd.defaults.repository;

/** What differs between the two formats of packages, in words. */
interface Words {
  readonly url: string;
  readonly suite: string;
  readonly suites: string;
  readonly fingerprint: string;
}

/** Where the packages of a runtime in one format are; none of it must be named. */
const runtimeSource = (defaults: typeof DEFAULTS.rpm, words: Words) => ({
  url: url().exactOptional().meta({ default: defaults.url, description: words.url }),
  suite: text(/^(?:\/|[A-Za-z0-9{][A-Za-z0-9._{}/-]*)$/, `${words.suite}, or "/" for a flat repository`)
    .exactOptional()
    .meta({ default: defaults.suite, description: words.suites }),
  component: text(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'the name of a component')
    .exactOptional()
    .meta({ default: defaults.component, description: 'Component; of no meaning in a flat repository.' }),
  key: key('Its signing key, armored: URL or file. Default: gpg below the url.'),
  fingerprint: fingerprint().exactOptional().meta({ default: defaults.fingerprint, description: words.fingerprint }),
});

/** `kubernetes.repository.rpm` */
export const kubernetesRpm = z
  .strictObject({
    url: url()
      .default('https://pkgs.k8s.io/core:/stable:/v{minor}/rpm')
      .meta({ description: 'rpm repository; {minor} stands for 1.36 and the like.' }),
    key: key('Its signing key, armored: URL or file. Default: repodata/repomd.xml.key below the url.'),
    fingerprint: fingerprint()
      .default('DE15B14486CD377B9E876E1A234654DA9A296436')
      .meta({ description: "Fingerprint of the signing key. Default: that of pkgs.k8s.io's." }),
  })
  .prefault({})
  .meta({ description: 'The repository of hosts with rpm packages.' });

/** `runtime.repository.rpm` */
const runtimeRpm = z
  .strictObject(
    runtimeSource(DEFAULTS.rpm, {
      url:
        'rpm repository; {distribution} stands for the distribution whose packages a host takes, {codename} for ' +
        'its major version. The packages are below url/suite/ARCHITECTURE/component.',
      suite: 'the name of a folder',
      suites: 'Folder of the release; "/" for a flat repository.',
      fingerprint: "Fingerprint of the signing key. Default: that of Docker's rpm packages, which is another key.",
    }),
  )
  .prefault({})
  .meta({ description: 'The repository of hosts with rpm packages.' });

/** `runtime.repository` */
export const runtimeRepository = z
  .strictObject({
    ...runtimeSource(DEFAULTS, {
      url:
        'apt repository; {distribution} stands for debian or ubuntu, {codename} for bookworm and the like, as ' +
        'each host says.',
      suite: 'the name of a suite',
      suites: 'Suite; "/" for a flat repository.',
      fingerprint: "Fingerprint of the signing key. Default: that of Docker's.",
    }),
    rpm: runtimeRpm,
  })
  .prefault({})
  .meta({ description: 'Where the runtime comes from. The defaults here are those of containerd.' });
