import { type Artifact, isMade } from './artifact.ts';
import type { Site, Sites } from './downloads.ts';
import type { Keys } from './keys.ts';
import { GATEWAY, PACKAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { join } from 'node:path';
import { CONFORMANCE_IMAGES_PATH, CONFORMANCE_PATH, conformance, conformanceImages } from './conformance-recipes.ts';
import { DOCKER_PATH, dockerRepository } from './docker-recipes.ts';
import { dressedSystems, ubuntuSystems } from './dressed.ts';
import {
  imagesDownload,
  kubernetesDownload,
  packagesDownload,
  REGISTRY_SCRIPTS,
  releaseDownload,
} from './published.ts';
import type { System } from './systems.ts';
import { virtualMachine } from './virtual-machine.ts';
import {
  CONTAINERD_VERSIONS,
  CRIO_MINOR,
  ETCD_BETWEEN,
  KUBERNETES,
  type KubernetesVersion,
  repositoryName,
  VERSIONS,
} from './versions.ts';

/** Where Debian comes from on this machine. */
export interface Mirrors {
  readonly debian: string;
  /** The security archive, or nothing where the machine uses none. */
  readonly security: string;
}

/** What hosts of a system are made of. */
export interface SystemArtifacts {
  /** The tree that hosts lie over. */
  readonly base: Artifact;
  /** The system's own package repository, served under the system's name. */
  readonly repository?: Artifact | undefined;
}

/** What hosts and services are made of. */
export interface Recipes {
  /** What hosts of each system need. That of systems beside the default is made when a host of theirs is asked for. */
  readonly systems: Readonly<Record<System, SystemArtifacts>>;
  readonly tools: Artifact;
  /** Storage of the registry. */
  readonly images: Artifact;
  /** What the web server serves, by path. */
  readonly repositories: Readonly<Record<string, Artifact>>;
  /** What it serves besides, made when a host wants it (`buildOnDemand`). */
  readonly onDemand: Readonly<Record<string, Artifact>>;
}

/** Where things are published, and which of these sites answer. */
export interface Downloads {
  readonly from: Sites;
  readonly answering: ReadonlySet<Site>;
}

/** Every artifact of the lab. A change of a script or a version is a new key, and builds what depends on it. */
export function recipes(
  mirrors: Mirrors,
  keys: Keys,
  { from, answering }: Downloads,
  kubernetes: readonly KubernetesVersion[] = KUBERNETES,
): Recipes {
  /** What was made once stays. Otherwise it is downloaded where the site answers, and built where not. */
  const either = (site: Site, downloaded: Artifact | undefined, built: Artifact): Artifact => {
    if (downloaded === undefined) return built;
    return [downloaded, built].find(isMade) ?? (answering.has(site) ? downloaded : { ...built, publishedAt: site });
  };
  const signing = (key: string): Pick<Artifact, 'params' | 'settings'> => ({
    params: { KEY: key },
    settings: { GNUPGHOME: paths.gnupg },
  });
  const program = (recipe: string, version: string): Artifact =>
    either('releases', releaseDownload(recipe, version, from), {
      name: `${recipe}-${version}`,
      recipe,
      params: { VERSION: `v${version}` },
      go: true,
    });
  const kubernetesPrograms = (version: string): Artifact =>
    either('programs', kubernetesDownload(version, from), {
      name: `kubernetes-${version}`,
      recipe: 'kubernetes',
      params: { VERSION: `v${version}`, PROGRAMS: 'kubeadm kubelet kubectl hyperkube' },
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
  const bookworm = base('base', bootstrap, 'bookworm');
  const cni = program('cni-plugins', VERSIONS.cniPlugins);
  const versions = kubernetes.map((one) => ({
    ...one,
    programs: kubernetesPrograms(one.version),
    etcdPrograms: program('etcd', one.etcd),
    corednsProgram: program('coredns', one.coredns),
  }));

  const madeImages: Artifact = {
    name: 'images',
    recipe: 'images',
    shared: REGISTRY_SCRIPTS,
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
      PAUSE_VERSIONS: [...new Set(versions.map(({ pause }) => pause))].join(' '),
      ETCD_BETWEEN_TAG: ETCD_BETWEEN.tag,
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
      ETCD_BETWEEN: program('etcd', ETCD_BETWEEN.built),
      FLANNEL: program('flannel', VERSIONS.flannel),
      // Last version of the plugins' module that still had it.
      FLANNEL_CNI: program('flannel-cni', '0.9.1'),
      AGNHOST: agnhost,
      PAUSE: { name: 'pause', recipe: 'pause' },
      TOOLS: tools,
      BOOTSTRAP: bootstrap,
    },
  };

  const images = either('images', imagesDownload(kubernetes, tools, from), madeImages);

  const kubernetesDebs = versions.map((one): [string, Artifact] => {
    const { version, minor, programs, criTools } = one;
    const made: Artifact = {
      name: `kubernetes-repository-${repositoryName(one)}`,
      recipe: 'kubernetes-repository',
      shared: ['kubernetes-index.sh'],
      needs: {
        ...{ KUBERNETES: programs, CNI: cni },
        ...(criTools === undefined ? {} : { CRI_TOOLS: program('cri-tools', version) }),
      },
      ...signing(keys.kubernetes),
      params: {
        ...{ KEY: keys.kubernetes, VERSION: version, MINOR: minor, CNI_VERSION: VERSIONS.cniPlugins },
        ...(criTools === undefined ? {} : { CRI_TOOLS_VERSION: criTools }),
      },
    };
    const path = join('kubernetes', `v${minor}`, 'deb');
    return [path, either('packages', packagesDownload(one, keys, from), made)];
  });
  const kubernetesRpms = versions.map(({ version, minor, programs, criTools }): [string, Artifact] => [
    join('kubernetes', `v${minor}`, 'rpm'),
    {
      ...{ name: `kubernetes-rpm-${repositoryName({ version, minor })}`, recipe: 'kubernetes-rpm', shared: ['rpm.sh'] },
      ...signing(keys.kubernetes),
      needs: {
        ...{ KUBERNETES: programs, CNI: cni },
        ...(criTools === undefined ? {} : { CRI_TOOLS: program('cri-tools', version) }),
      },
      params: {
        ...{ KEY: keys.kubernetes, VERSION: version, CNI_VERSION: VERSIONS.cniPlugins },
        ...(criTools === undefined ? {} : { CRI_TOOLS_VERSION: criTools }),
      },
    },
  ]);
  const containerdRepository = (recipe: string, key: string, version: string = VERSIONS.containerd): Artifact => ({
    ...{ name: version === VERSIONS.containerd ? recipe : `${recipe}-${version}`, recipe },
    shared: ['docker-index.sh'],
    needs: { CONTAINERD: program('containerd', version), DEBIAN: debian },
    ...signing(key),
    params: { KEY: key, VERSION: version },
  });
  const docker = containerdRepository('containerd-repository', keys.containerd);
  const trixieTree = base('base-trixie', trixie, '');
  const systems = {
    bookworm: { base: bookworm },
    trixie: { base: trixieTree },
    arm64: { base: arm64Tree(bookworm, mirrors) },
    selinux: virtualMachine(bookworm, tools, mirrors),
    ...dressedSystems(bookworm, mirrors, keys, {
      CONTAINERD: program('containerd', VERSIONS.containerd),
      DEBIAN: debian,
    }),
    ...ubuntuSystems({ bookworm, trixie: trixieTree }, mirrors, keys, { DEBIAN: debian, CONTAINERD: docker }),
  };
  const containerdVersions: Artifact = {
    ...{ name: 'containerd-versions', recipe: 'containerd-versions', shared: ['docker-index.sh'] },
    needs: Object.fromEntries(
      CONTAINERD_VERSIONS.map((version, n) => [
        `REPOSITORY_${n}`,
        containerdRepository('containerd-repository', keys.containerd, version),
      ]),
    ),
    ...signing(keys.containerd),
  };
  const repositories = {
    debian,
    containerd: docker,
    [join('docker', 'linux', 'rhel')]: {
      ...containerdRepository('docker-rpm', keys['containerd-rpm']),
      shared: ['rpm.sh'],
    },
    ...ofEachMinor(kubernetesDebs, (path, needs) => ({
      ...{
        name: `kubernetes-versions-${minorIn(path)}`,
        recipe: 'kubernetes-versions',
        shared: ['kubernetes-index.sh'],
      },
      needs,
      settings: { GNUPGHOME: paths.gnupg },
      params: { KEY: keys.kubernetes, MINOR: minorIn(path) },
    })),
    ...ofEachMinor(kubernetesRpms, (path, needs) => ({
      ...{ name: `kubernetes-rpm-versions-${minorIn(path)}`, recipe: 'kubernetes-rpm-versions', shared: ['rpm.sh'] },
      needs,
      ...signing(keys.kubernetes),
    })),
  };
  const onDemand = {
    [CRIO_PATH]: crioRepository(mirrors, keys, { bootstrap, debian }),
    [CONTAINERD_VERSIONS_PATH]: containerdVersions,
    [DOCKER_PATH]: dockerRepository(mirrors, keys, { CONTAINERD: repositories.containerd }),
    [KUBE_VIP_PATH]: kubeVipImage({ BOOTSTRAP: bootstrap, TOOLS: tools }),
    [HELM_PATH]: helm,
    [CILIUM_PATH]: cilium,
    [CILIUM_IMAGES_PATH]: ciliumImages(mirrors, { bootstrap, tools, cni }),
    [METALLB_PATH]: metallb,
    [METALLB_IMAGES_PATH]: metallbImages(tools),
    [CALICO_PATH]: calico,
    [CALICO_IMAGES_PATH]: calicoImages(mirrors, { bootstrap, tools, cni }),
    [CONFORMANCE_PATH]: conformance,
    [CONFORMANCE_IMAGES_PATH]: conformanceImages(mirrors, { BOOTSTRAP: bootstrap, TOOLS: tools, AGNHOST: agnhost }),
  };
  return { systems, tools, images, repositories, onDemand };
}

/** It is published as an image only. */
const agnhost: Artifact = {
  name: `agnhost-${VERSIONS.agnhost}`,
  recipe: 'kubernetes',
  params: { VERSION: `v${KUBERNETES[0].version}`, PROGRAMS: 'agnhost' },
  go: true,
};

/** The minor in the path of a repository: 1.36 of kubernetes/v1.36/deb. */
const minorIn = (path: string): string => path.split('/')[1]?.slice(1) ?? '';

/** Repositories by path. Where several versions share a path, that of all of them; a single one stays what it is. */
function ofEachMinor(
  single: readonly (readonly [string, Artifact])[],
  merged: (path: string, needs: Readonly<Record<string, Artifact>>) => Artifact,
): Readonly<Record<string, Artifact>> {
  const places = [...new Set(single.map(([path]) => path))];
  return Object.fromEntries(
    places.map((path) => {
      const these = single.flatMap(([at, artifact]) => (at === path ? [artifact] : []));
      const [first] = these;
      if (these.length === 1 && first !== undefined) return [path, first];
      return [path, merged(path, Object.fromEntries(these.map((artifact, n) => [`REPOSITORY_${n}`, artifact])))];
    }),
  );
}

/** Debian 12 with a userland of arm64. */
const arm64Tree = (BASE: Artifact, { debian, security }: Mirrors): Artifact => ({
  ...{ name: 'base-arm64', recipe: 'arm64-tree' },
  needs: {
    BASE,
    DEBS: { name: 'arm64-debs', recipe: 'arm64-debs', settings: { MIRROR: debian, SECURITY: security } },
  },
});

/** Where the repository with several versions of containerd is served. */
export const CONTAINERD_VERSIONS_PATH = 'containerd-versions';

/** Where the repositories of CRI-O, deb and rpm, are served. */
export const CRIO_PATH = join('cri-o', `v${CRIO_MINOR}`);

/** The folder of Helm, which renders charts on this machine. */
export const HELM_PATH = 'helm';

const helm: Artifact = {
  name: `helm-${VERSIONS.helm}`,
  recipe: 'helm',
  params: { VERSION: `v${VERSIONS.helm}` },
  go: true,
};

/** Where the storage of the registry is that has kube-vip's image alone. */
export const KUBE_VIP_PATH = 'kube-vip-image';

/**
 * The image of kube-vip, compiled when a test wants it: a host of the lab reaches no other registry. And one in the place of its cloud provider,
 * whose module cannot be had, which does nothing.
 */
const kubeVipImage = (needs: Readonly<Record<'BOOTSTRAP' | 'TOOLS', Artifact>>): Artifact => ({
  ...{ name: 'kube-vip-image', recipe: 'kube-vip-image', shared: REGISTRY_SCRIPTS },
  params: { VERSION: `v${VERSIONS.kubeVip}`, PROVIDER_VERSION: `v${VERSIONS.kubeVipProvider}` },
  needs: {
    ...needs,
    PAUSE: { name: 'pause', recipe: 'pause' },
    KUBE_VIP: {
      name: `kube-vip-${VERSIONS.kubeVip}`,
      recipe: 'kube-vip',
      params: { VERSION: `v${VERSIONS.kubeVip}` },
      go: true,
    },
  },
});

/** The folder with Cilium's chart, and the programs of its images. */
export const CILIUM_PATH = 'cilium';

/** Where the storage of the registry is that has Cilium's images alone. */
export const CILIUM_IMAGES_PATH = 'cilium-images';

const cilium: Artifact = {
  name: `cilium-${VERSIONS.cilium}`,
  recipe: 'cilium',
  params: { VERSION: `v${VERSIONS.cilium}` },
  go: true,
};

/** The images of Cilium's agent and operator. */
const ciliumImages = (
  { debian }: Mirrors,
  needs: Readonly<Record<'bootstrap' | 'tools' | 'cni', Artifact>>,
): Artifact => ({
  ...{ name: 'cilium-images', recipe: 'cilium-images', shared: REGISTRY_SCRIPTS },
  params: { VERSION: `v${VERSIONS.cilium}` },
  needs: {
    CILIUM: cilium,
    CNI: needs.cni,
    TOOLS: needs.tools,
    COMPILER: compiler(debian, needs.bootstrap),
  },
});

/** A tree of Debian with what agents of networks call: the compiler for BPF, and ipset. */
const compiler = (mirror: string, bootstrap: Artifact): Artifact => ({
  ...{ name: 'cilium-compiler', recipe: 'cilium-compiler' },
  needs: { BOOTSTRAP: bootstrap },
  settings: { MIRROR: mirror },
});

/** The folder with MetalLB's programs and manifest. */
export const METALLB_PATH = 'metallb';

/** Where the storage of the registry is that has MetalLB's images alone. */
export const METALLB_IMAGES_PATH = 'metallb-images';

const metallb: Artifact = {
  name: `metallb-${VERSIONS.metallb.version}`,
  recipe: 'metallb',
  params: { VERSION: `v${VERSIONS.metallb.version}`, FRR_K8S: VERSIONS.metallb.frrK8s },
  go: true,
};

const metallbImages = (TOOLS: Artifact): Artifact => ({
  ...{ name: 'metallb-images', recipe: 'metallb-images', shared: REGISTRY_SCRIPTS },
  params: { VERSION: `v${VERSIONS.metallb.version}` },
  needs: { METALLB: metallb, TOOLS },
});

/** The folder with the manifests of Calico's operator, and the programs of its images. */
export const CALICO_PATH = 'calico';

/** Where the storage of the registry is that has Calico's images alone. */
export const CALICO_IMAGES_PATH = 'calico-images';

const calico: Artifact = {
  name: `calico-${VERSIONS.calico.programs}`,
  recipe: 'calico',
  params: {
    VERSION: `v${VERSIONS.calico.programs}`,
    MODULE: VERSIONS.calico.module,
    API: VERSIONS.calico.api,
    OPERATOR: `v${VERSIONS.calico.operator}`,
  },
  go: true,
};

/** The images of Calico's operator, and those that it asks for. */
const calicoImages = (
  { debian }: Mirrors,
  needs: Readonly<Record<'bootstrap' | 'tools' | 'cni', Artifact>>,
): Artifact => ({
  ...{ name: 'calico-images', recipe: 'calico-images', shared: REGISTRY_SCRIPTS },
  params: { VERSION: `v${VERSIONS.calico.tag}`, OPERATOR: `v${VERSIONS.calico.operator}` },
  needs: { CALICO: calico, CNI: needs.cni, TOOLS: needs.tools, COMPILER: compiler(debian, needs.bootstrap) },
});

/** CRI-O's repositories of one minor, with crictl. It is published as packages only, so it is compiled, when a host wants it. */
function crioRepository(
  mirrors: Mirrors,
  keys: Keys,
  needs: Readonly<Record<'bootstrap' | 'debian', Artifact>>,
): Artifact {
  const ingredients: Artifact = {
    name: 'cri-o-ingredients',
    recipe: 'cri-o-ingredients',
    needs: { BOOTSTRAP: needs.bootstrap },
    settings: { MIRROR: mirrors.debian },
  };
  const program: Artifact = {
    name: `cri-o-${VERSIONS.crio}`,
    recipe: 'cri-o',
    params: { VERSION: `v${VERSIONS.crio}`, KUBERNETES: `v0.${VERSIONS.crio.slice(2)}` },
    needs: { INGREDIENTS: ingredients },
    go: true,
  };
  return {
    name: 'cri-o-repository',
    recipe: 'cri-o-repository',
    shared: ['rpm.sh'],
    needs: {
      ...{ CRIO: program, INGREDIENTS: ingredients, DEBIAN: needs.debian },
      CRICTL: {
        name: `crictl-${VERSIONS.crictl}`,
        recipe: 'crictl',
        params: { VERSION: `v${VERSIONS.crictl}` },
        go: true,
      },
    },
    params: { KEY: keys.crio, VERSION: VERSIONS.crio, MINOR: CRIO_MINOR, CRICTL_VERSION: VERSIONS.crictl },
    settings: { GNUPGHOME: paths.gnupg },
  };
}
