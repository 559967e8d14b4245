/** Artifacts that are downloaded from where users get these things. Each stands for one that the lab can build instead. */
import type { Artifact } from './artifact.ts';
import type { Sites } from './downloads.ts';
import type { Keys } from './keys.ts';
import { paths } from './paths.ts';
import { ETCD_BETWEEN, type KubernetesVersion, repositoryName, VERSIONS } from './versions.ts';

/** The programs of a Kubernetes version. */
export const kubernetesDownload = (version: string, { programs, checksums }: Sites): Artifact => ({
  name: `kubernetes-download-${version}`,
  recipe: 'kubernetes-download',
  params: {
    VERSION: `v${version}`,
    PROGRAMS: 'kubeadm kubelet kubectl kube-apiserver kube-controller-manager kube-scheduler kube-proxy',
  },
  settings: { DOWNLOAD_BASE: programs, CHECKSUMS: checksums },
});

/** An archive of a project's release, and the programs in it. */
interface Release {
  readonly archive: string;
  readonly sums: string;
  readonly members: readonly string[];
}

/** By recipe that builds the same. flannel publishes no checksums beside its programs: they come with its images, or are built. */
const RELEASES: Readonly<Record<string, (version: string) => Release>> = {
  etcd: (version) => {
    const [folder, name] = [`etcd-io/etcd/releases/download/v${version}`, `etcd-v${version}-linux-amd64`];
    const members = ['etcd', 'etcdctl', 'etcdutl'].map((program) => `${name}/${program}`);
    return { archive: `${folder}/${name}.tar.gz`, sums: `${folder}/SHA256SUMS`, members };
  },
  coredns: (version) => {
    const archive = `coredns/coredns/releases/download/v${version}/coredns_${version}_linux_amd64.tgz`;
    return { archive, sums: `${archive}.sha256`, members: ['coredns'] };
  },
  containerd: (version) => {
    const archive = `containerd/containerd/releases/download/v${version}/containerd-${version}-linux-amd64.tar.gz`;
    const members = ['containerd', 'containerd-shim-runc-v2', 'ctr'].map((program) => `bin/${program}`);
    return { archive, sums: `${archive}.sha256sum`, members };
  },
  'cni-plugins': (version) => {
    const archive = `containernetworking/plugins/releases/download/v${version}/cni-plugins-linux-amd64-v${version}.tgz`;
    const members = 'bridge loopback host-device ptp host-local portmap tuning bandwidth firewall'.split(' ');
    return { archive, sums: `${archive}.sha256`, members };
  },
};

/** The programs that the recipe would build, from their project's release; undefined where none can be had so. */
export function releaseDownload(recipe: string, version: string, from: Sites): Artifact | undefined {
  const release = RELEASES[recipe]?.(version);
  if (release === undefined) return undefined;
  return {
    name: `${recipe}-download-${version}`,
    recipe: 'release-download',
    params: { ARCHIVE: release.archive, SUMS: release.sums, MEMBERS: release.members.join(' ') },
    settings: { RELEASES_BASE: from.releases, CHECKSUMS: from.checksums },
  };
}

/** Scripts that every recipe of a registry's storage reads. */
export const REGISTRY_SCRIPTS = ['oci.sh', 'registry.sh'];

/** Every image of these versions. */
export function imagesDownload(versions: readonly KubernetesVersion[], tools: Artifact, from: Sites): Artifact {
  const programs = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'];
  const images = versions.flatMap(({ version, etcd, coredns }) => [
    ...programs.map((program) => `${program}:v${version}`),
    ...[`etcd:${etcd}-0`, `coredns/coredns:v${coredns}`],
  ]);
  return {
    name: 'images-download',
    recipe: 'images',
    shared: REGISTRY_SCRIPTS,
    params: {
      KUBERNETES_IMAGES: [
        ...images,
        ...new Set(versions.map(({ pause }) => `pause:${pause}`)),
        `etcd:${ETCD_BETWEEN.tag}`,
        `e2e-test-images/agnhost:${VERSIONS.agnhost}`,
      ].join(' '),
      FLANNEL_IMAGES: `flannel-io/flannel:v${VERSIONS.flannel} flannel-io/flannel-cni-plugin:v${VERSIONS.flannelCniPlugin}`,
    },
    settings: { KUBERNETES_BASE: from.images, FLANNEL_BASE: from.flannelImages, CHECKSUMS: from.checksums },
    needs: { TOOLS: tools },
  };
}

/** A repository of the packages of a version. */
export const packagesDownload = (
  { version, minor, criTools }: KubernetesVersion,
  keys: Keys,
  { packages, packagesKey }: Sites,
): Artifact => ({
  name: `kubernetes-packages-${repositoryName({ version, minor })}`,
  recipe: 'kubernetes-packages',
  shared: ['kubernetes-index.sh'],
  params: {
    ...{ KEY: keys.kubernetes, VERSION: version, MINOR: minor, FINGERPRINT: packagesKey },
    PACKAGES: ['kubernetes-cni', ...(criTools === undefined ? [] : ['cri-tools'])].join(' '),
  },
  settings: { GNUPGHOME: paths.gnupg, PACKAGES_BASE: packages },
});
