import type { Inventory, RegistrySettings } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import { OWN_HEADER } from '../paths.ts';
import type { JsonObject } from '../shell/decode.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import { compareVersions, minorFacts } from '../versions.ts';
import { dockerRepository } from './containerd.value.ts';
import { fullName, pauseImage } from './registries.value.ts';
import {
  cgroupDriverInUse,
  type ContainerRuntime,
  type RegistryFile,
  type RegistryWay,
  type RuntimeConfig,
  type RuntimeMisfit,
  type RuntimeProgram,
} from './runtime.value.ts';

const SETTINGS = '/etc/docker/daemon.json';
const STATE_FOLDER = '/var/lib/cri-dockerd';
const CERTS_FOLDER = '/etc/docker/certs.d';
/** Docker trusts every `*.crt` in the folder of a registry; this name tells kbuild's file from those of others. */
const CA_FILE = 'kbuild-ca.crt';

/** The first version with `dockerd --validate`, with which kbuild checks settings. */
const OLDEST = '23.0.0';
/** The first cri-dockerd that answers `RuntimeConfig`, from which kubelets learn the cgroup driver. */
const OLDEST_ADAPTER = '0.4.0';
/** The last minor of Kubernetes for which a source says that cri-dockerd's CRI (cri-api 0.30, CRI v1) is enough. */
const LAST_MINOR = '1.37';

/**
 * Minors whose kubelets translate WebSockets themselves. They take the URLs of cri-dockerd for exec, attach and
 * port-forward, which have no scheme, for HTTPS (found with 0.4.3). Without the gate the API server translates, as
 * before 1.36.
 */
const MINORS_WITH_WEBSOCKETS: readonly string[] = ['1.36', '1.37'];

/** The only registry that Docker reaches by mirrors. */
const HUB = 'docker.io';

const DRIVER = 'native.cgroupdriver=';

/**
 * The settings that kbuild needs in daemon.json, merged over those in the file. The inventory's own settings override
 * them.
 */
function settings({ runtime }: Inventory, there: JsonObject): JsonObject {
  const options = Array.isArray(there['exec-opts']) ? there['exec-opts'].map(String) : [];
  const mirrors = runtime.registries.find(({ host }) => host === HUB)?.mirrors ?? [];
  return merged(
    {
      'exec-opts': [...options.filter((option) => !option.startsWith(DRIVER)), `${DRIVER}${runtime.cgroupDriver}`],
      // Containers outlive a restart of dockerd, as with the other runtimes.
      'live-restore': true,
      // Docker sets the policy of FORWARD to DROP when it switches forwarding on. It knows the setting since 28.0.
      ...(compareVersions(runtime.version, '28.0.0') >= 0 ? { 'ip-forward-no-drop': true } : {}),
      ...(runtime.selinux ? { 'selinux-enabled': true } : {}),
      ...(mirrors.length === 0 ? {} : { 'registry-mirrors': mirrors }),
    },
    runtime.config,
  );
}

/** The arguments of cri-dockerd, in a drop-in of its unit. */
const configuration = (inventory: Inventory): string => {
  const args = {
    'network-plugin': 'cni',
    'cni-conf-dir': '/etc/cni/net.d',
    'cni-bin-dir': '/opt/cni/bin',
    'cri-dockerd-root-directory': STATE_FOLDER,
    'pod-infra-container-image': pauseImage(inventory),
    // The kubelet alone asks for it. By default the server of exec, attach and port-forward listens on all addresses,
    // without TLS.
    'streaming-bind-addr': '127.0.0.1',
  };
  const words = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
  return `${OWN_HEADER}.\n[Service]\nEnvironment="CRI_DOCKERD_ARGS=${words.join(' ')}"\n`;
};

function cannotReach({ host, mirrors, username }: RegistryWay): string | undefined {
  if (username !== undefined)
    return 'Docker Engine has no logins for all pods of a host: use imagePullSecrets, or a mirror without a login';
  if (mirrors.length === 0) return undefined;
  if (host !== HUB)
    return `Docker Engine reaches ${HUB} alone by mirrors: take the mirrors of ${host} away, or use another runtime`;
  const withPath = mirrors.find((url) => !/^https?:\/\/[^/]+\/?$/.test(url));
  return withPath === undefined ? undefined : `Docker Engine takes no mirror with a path (${withPath})`;
}

const registryFiles = (registries: readonly RegistrySettings[]): readonly RegistryFile[] =>
  registries.flatMap(({ host, ca }) =>
    ca === undefined ? [] : [{ path: `${CERTS_FOLDER}/${host}/${CA_FILE}`, content: ca }],
  );

function misfit(minor: string, found: string): RuntimeMisfit | undefined {
  if (compareVersions(found, OLDEST) >= 0) return undefined;
  return {
    severity: 'error',
    message:
      `Docker Engine ${found} is too old: kbuild tries its settings by dockerd --validate, which ${OLDEST} ` +
      `brought; use ${version(minor) ?? OLDEST}`,
  };
}

const version = (minor: string): string | undefined => (minorFacts(minor) === undefined ? undefined : '29.9.0');

const adapter: RuntimeProgram = {
  name: 'cri-dockerd',
  from: 'criDockerd',
  kind: 'archive',
  version: '0.4.10',
  units: ['cri-docker.socket', 'cri-docker'],
  stateFolder: STATE_FOLDER,
  misfit: (minor, found) => {
    if (compareVersions(found, OLDEST_ADAPTER) < 0)
      return {
        severity: 'error',
        message: `cri-dockerd ${found} does not tell kubelets its cgroup driver; use ${OLDEST_ADAPTER} or newer`,
      };
    if (compareVersions(minor, LAST_MINOR) <= 0) return undefined;
    return { severity: 'warning', message: `no source says that cri-dockerd works with Kubernetes ${minor}` };
  },
};

/** Reads `driver NAME` and `image NAME` of probe-docker-config.sh. */
function readConfig(out: string): RuntimeConfig | 'absent' | 'invalid' {
  if (out.trim() === '# absent') return 'absent';
  if (out.trimEnd().endsWith('# invalid')) return 'invalid';
  const word = (name: string): string => new RegExp(`^${name} (.+)$`, 'm').exec(out)?.[1] ?? '';
  const driver = word('driver');
  return {
    cgroupDriver: driver === 'systemd' || driver === 'cgroupfs' ? driver : 'unset',
    sandboxImage: word('image'),
    criDisabled: false,
  };
}

/** Runs Docker's client if Docker runs; a client that fails makes the fact unknown. */
const ofDocker = (...args: readonly string[]) =>
  sh`if command -v docker >/dev/null && systemctl -q is-active docker; then timeout -k 1 20 docker ${args}; fi`;

/** Docker Engine from Docker's repository, with cri-dockerd of its project's release, which speaks CRI for it. */
export const docker: ContainerRuntime<'docker'> = {
  name: 'docker',
  title: 'Docker Engine',
  socket: '/run/cri-dockerd.sock',
  reportedAs: 'docker',
  unit: 'docker',
  startedBy: ['docker.socket'],
  needs: 'containerd',
  servesOthers: true,
  dataFolder: '/var/lib/docker',
  dataFolderSetting: ['data-root'],
  paths: {
    config: '/etc/systemd/system/cri-docker.service.d/50-kbuild.conf',
    proxy: '/etc/systemd/system/docker.service.d/90-kbuild-proxy.conf',
    units: [
      { template: 'runtime/cri-docker.socket', path: '/etc/systemd/system/cri-docker.socket' },
      { template: 'runtime/cri-docker.service', path: '/etc/systemd/system/cri-docker.service' },
    ],
  },
  defaults: {
    package: 'docker-ce',
    repository: dockerRepository,
  },
  // Docker's packages, and Mirantis' of the Mirantis Container Runtime, have the client apart; distributions pack it
  // otherwise.
  companions: (name, at): Readonly<Record<string, string>> =>
    /^docker-[ce]e$/.test(name) ? { [`${name}-cli`]: at, 'containerd.io': 'any' } : {},
  programs: [adapter],
  shared: {
    path: SETTINGS,
    record: '/etc/docker/kbuild-daemon.json',
    settings,
    validate: (path) =>
      sh`if command -v dockerd >/dev/null; then dockerd --validate --config-file ${path} >/dev/null; fi`,
  },
  // Docker starts containers by its containerd, whose CRI its package switches off.
  otherSockets: ['/run/containerd/containerd.sock'],
  version,
  misfit,
  // endoflife.date. 25.0 is that of the Mirantis Container Runtime.
  ends: {
    '25.0': '2026-12-04',
    ...Object.fromEntries([0, 1, 2, 3, 4, 5].map((minor) => [`28.${String(minor)}`, '2026-05-13'])),
  },
  otherPackages: ['docker-ce', 'docker-ee', 'docker.io'],
  kubeletConfig: (minor) =>
    MINORS_WITH_WEBSOCKETS.includes(minor) ? { featureGates: { ExtendWebSocketsToKubelet: false } } : {},
  configuration,
  // systemd ignores what it does not understand of a drop-in.
  validate: () => sh`true`,
  sandboxImage: pauseImage,
  cannotReach,
  registryFiles,
  registriesFolder: { path: CERTS_FOLDER, use: 'shared' },
  ownRegistryFiles: sh`for file in ${CERTS_FOLDER}/*/${CA_FILE}; do if [ -f "$file" ]; then echo "$file"; fi; done`,
  probes: {
    config: probeInPlace(script('runtime/probe-docker-config.sh', { SETTINGS }), readConfig),
    images: probeInPlace(
      ofDocker('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}'),
      (out): ReadonlySet<string> =>
        new Set(
          lines(out)
            .filter((name) => !name.includes('<none>'))
            .map(fullName),
        ),
    ),
    containers: probeInPlace(
      ofDocker('ps', '--format', '{{if .Label "io.kubernetes.docker.type"}}kubernetes{{else}}docker{{end}}'),
      (out): ReadonlyMap<string, number> => {
        const counts = new Map<string, number>();
        for (const name of lines(out)) counts.set(name, (counts.get(name) ?? 0) + 1);
        return counts;
      },
    ),
    // Its scopes lie in the pods' slices; those of other containers say nothing of Kubernetes.
    cgroupDriverInUse: cgroupDriverInUse('kubepods'),
  },
  ownerOf: (namespace) => (namespace === 'kubernetes' ? undefined : 'other programs'),
  signatures: [],
};
