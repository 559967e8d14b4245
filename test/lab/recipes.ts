import { type Artifact, isMade } from './artifact.ts';
import type { Keys } from './keys.ts';
import { GATEWAY, PACKAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { join } from 'node:path';
import { KUBERNETES, type Release, VERSIONS } from './versions.ts';

/** Where Debian comes from on this machine. */
export interface Mirrors {
  readonly debian: string;
  /** The security archive, or nothing where the machine uses none. */
  readonly security: string;
}

/** What hosts and services are made of. */
export interface Recipes {
  /** The trees that hosts lie over. Those beside the default are made when a host of theirs is asked for. */
  readonly bases: Readonly<Record<Release, Artifact>>;
  readonly tools: Artifact;
  /** Storage of the registry. */
  readonly images: Artifact;
  /** What the web server serves, by path. */
  readonly repositories: Readonly<Record<string, Artifact>>;
}

/** Whether the Kubernetes programs may be taken from a download site, and from which. */
export interface Downloads {
  readonly base: string;
  /** File with checksums to believe instead of the site's, or nothing. */
  readonly checksums: string;
  readonly answers: boolean;
}

/** The Kubernetes programs: what was made once stays; otherwise downloaded where the site answers, and built where not. */
function kubernetesPrograms(version: string, { base, checksums, answers }: Downloads): Artifact {
  const VERSION = `v${version}`;
  const images = 'kube-apiserver kube-controller-manager kube-scheduler kube-proxy';
  const downloaded: Artifact = {
    name: `kubernetes-download-${version}`,
    recipe: 'kubernetes-download',
    params: { VERSION, PROGRAMS: `kubeadm kubelet kubectl ${images}` },
    settings: { DOWNLOAD_BASE: base, CHECKSUMS: checksums },
  };
  const built: Artifact = {
    name: `kubernetes-${version}`,
    recipe: 'kubernetes',
    params: { VERSION, PROGRAMS: 'kubeadm kubelet kubectl hyperkube' },
    go: true,
  };
  return [downloaded, built].find(isMade) ?? (answers ? downloaded : built);
}

/** Every artifact of the lab. A change of a script or a version is a new key, and builds what depends on it. */
export function recipes(mirrors: Mirrors, keys: Keys, downloads: Downloads): Recipes {
  const signing = (key: string): Pick<Artifact, 'params' | 'settings'> => ({
    params: { KEY: key },
    settings: { GNUPGHOME: paths.gnupg },
  });
  const program = (recipe: string, version: string): Artifact => ({
    name: `${recipe}-${version}`,
    recipe,
    params: { VERSION: `v${version}` },
    go: true,
  });

  const bootstrap: Artifact = { name: 'bootstrap', recipe: 'bootstrap', settings: { MIRROR: mirrors.debian } };
  const debian: Artifact = {
    name: 'debian',
    recipe: 'debian',
    needs: { BOOTSTRAP: bootstrap },
    params: { KEY: keys.debian },
    settings: { GNUPGHOME: paths.gnupg, MIRROR: mirrors.debian, SECURITY: mirrors.security },
  };
  const tools: Artifact = { name: 'tools', recipe: 'tools', needs: { DEBIAN: debian } };
  const base = (name: string, needs: Artifact, SUITE: string): Artifact => ({
    name,
    recipe: 'base',
    needs: { BOOTSTRAP: needs },
    params: { KEY: keys.debian, PACKAGES_URL, GATEWAY, IDENTITY: keys.identity, SUITE },
    settings: { GNUPGHOME: paths.gnupg },
  });
  const trixie: Artifact = { ...bootstrap, name: 'bootstrap-trixie', recipe: 'bootstrap-trixie' };
  const bases = { bookworm: base('base', bootstrap, 'bookworm'), trixie: base('base-trixie', trixie, '') };

  const cni = program('cni-plugins', VERSIONS.cniPlugins);
  const versions = KUBERNETES.map((kubernetes) => ({
    ...kubernetes,
    programs: kubernetesPrograms(kubernetes.version, downloads),
    etcdPrograms: program('etcd', kubernetes.etcd),
    corednsProgram: program('coredns', kubernetes.coredns),
  }));

  const images: Artifact = {
    name: 'images',
    recipe: 'images',
    params: {
      ...Object.fromEntries(
        versions.flatMap(({ version, etcd, coredns }, n) => [
          [`KUBERNETES_${n}_VERSION`, version],
          [`ETCD_${n}_VERSION`, etcd],
          [`COREDNS_${n}_VERSION`, coredns],
        ]),
      ),
      FLANNEL_VERSION: VERSIONS.flannel,
      FLANNEL_CNI_VERSION: VERSIONS.flannelCniPlugin,
      PAUSE_VERSION: VERSIONS.pause,
      AGNHOST_VERSION: VERSIONS.agnhost,
    },
    needs: {
      ...Object.fromEntries(
        versions.flatMap(({ programs, etcdPrograms, corednsProgram }, n) => [
          [`KUBERNETES_${n}`, programs],
          [`ETCD_${n}`, etcdPrograms],
          [`COREDNS_${n}`, corednsProgram],
        ]),
      ),
      FLANNEL: program('flannel', VERSIONS.flannel),
      // Last version of the plugins' module that still had it.
      FLANNEL_CNI: program('flannel-cni', '0.9.1'),
      // Not among the downloads: always built.
      AGNHOST: {
        name: `agnhost-${VERSIONS.agnhost}`,
        recipe: 'kubernetes',
        params: { VERSION: `v${KUBERNETES[0].version}`, PROGRAMS: 'agnhost' },
        go: true,
      },
      PAUSE: { name: 'pause', recipe: 'pause' },
      TOOLS: tools,
      BOOTSTRAP: bootstrap,
    },
  };

  const kubernetesRepositories = versions.map(({ version, minor, programs, criTools }): [string, Artifact] => [
    join('kubernetes', `v${minor}`, 'deb'),
    {
      name: `kubernetes-repository-${minor}`,
      recipe: 'kubernetes-repository',
      needs: {
        ...{ KUBERNETES: programs, CNI: cni },
        ...(criTools === undefined ? {} : { CRI_TOOLS: program('cri-tools', version) }),
      },
      ...signing(keys.kubernetes),
      params: {
        ...{ KEY: keys.kubernetes, VERSION: version, MINOR: minor, CNI_VERSION: VERSIONS.cniPlugins },
        ...(criTools === undefined ? {} : { CRI_TOOLS_VERSION: criTools }),
      },
    },
  ]);
  const containerd: Artifact = {
    name: 'containerd-repository',
    recipe: 'containerd-repository',
    needs: { CONTAINERD: program('containerd', VERSIONS.containerd), DEBIAN: debian },
    ...signing(keys.containerd),
    params: { KEY: keys.containerd, VERSION: VERSIONS.containerd },
  };
  return { bases, tools, images, repositories: { debian, containerd, ...Object.fromEntries(kubernetesRepositories) } };
}
