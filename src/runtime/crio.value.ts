import { parse as parseToml, stringify } from 'smol-toml';
import type { Inventory, RegistrySettings } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import type { RuntimeHandler } from '../inventory/runtime-handlers.ts';
import { OWN_HEADER } from '../paths.ts';
import { type JsonObject, objectOf, objectsOf, textsIn } from '../shell/decode.ts';
import { probeInPlace } from '../shell/probe.ts';
import { madeOfAll, type Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { using } from '../templates.ts';
import { minorFacts, minorOf } from '../versions.ts';
import { textAt, valueAt } from './containerd-config.value.ts';
import { loginOf, pauseImage } from './registries.value.ts';
import { cgroupDriverInUse, type ContainerRuntime, type RegistryFile, type RuntimeConfig } from './runtime.value.ts';

const SOCKET = '/run/crio/crio.sock';
const PACKAGE = 'cri-o';

/** Logins to registries: the setting `global_auth_file`. */
const AUTH_FILE = '/etc/crio/kbuild-auth.json';
const MIRRORS_FILE = '/etc/containers/registries.conf.d/50-kbuild.conf';
const CERTS_FOLDER = '/etc/containers/certs.d';
/** CRI-O trusts every `*.crt` in the folder of a registry; this name tells kbuild's file from those of others. */
const CA_FILE = 'kbuild-ca.crt';

/** The monitor of containers that the project's package brings, outside of PATH. Other packages have it in PATH. */
const MONITOR = '/usr/libexec/crio/conmon';

const HANDLER_TABLES = {
  crun: ({ name, path }: RuntimeHandler, { runtime }: Inventory): JsonObject => ({
    runtime_path: path,
    runtime_type: 'oci',
    runtime_root: `/run/${name}`,
    ...(runtime.package === PACKAGE ? { monitor_path: MONITOR } : {}),
  }),
  kata: ({ path, config }: RuntimeHandler): JsonObject => ({
    runtime_path: path,
    runtime_type: 'vm',
    runtime_root: '/run/vc',
    privileged_without_host_devices: true,
    ...(config === undefined ? {} : { runtime_config_path: config }),
  }),
} as const;

/** The tables of the further handlers. The package describes its own in another file, which stays as it is. */
const handlerTables = (inventory: Inventory): JsonObject =>
  Object.fromEntries(
    inventory.runtime.handlers.flatMap((handler) => {
      const { kind, name } = handler;
      return kind === 'crun' || kind === 'kata' ? [[name, HANDLER_TABLES[kind](handler, inventory)]] : [];
    }),
  );

/** Settings in the form of crio.conf, the user's own merged over them. */
const settings = (inventory: Inventory): JsonObject => {
  const { cgroupDriver, registries, config, handlers, selinux } = inventory.runtime;
  return merged(
    {
      crio: {
        runtime: {
          cgroup_manager: cgroupDriver,
          // With cgroupfs CRI-O accepts no other value.
          ...(cgroupDriver === 'cgroupfs' ? { conmon_cgroup: 'pod' } : {}),
          ...(selinux ? { selinux } : {}),
          ...(handlers.length === 0 ? {} : { runtimes: handlerTables(inventory) }),
        },
        image: {
          pause_image: pauseImage(inventory),
          ...(registries.some(({ password }) => password !== undefined) ? { global_auth_file: AUTH_FILE } : {}),
        },
      },
    },
    config,
  );
};

const sandboxImage = (inventory: Inventory): string =>
  textAt(settings(inventory), 'crio', 'image', 'pause_image') ?? '';

/** `https://mirror:5000/path` → `mirror:5000/path`: registries.conf has no schemes. */
const location = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');

const mirrorTable = ({ host, mirrors }: RegistrySettings): JsonObject => ({
  prefix: host,
  location: host,
  mirror: mirrors.map((url) => ({
    location: location(url),
    ...(url.startsWith('http:') ? { insecure: true } : {}),
  })),
});

/** A file in Docker's format with the logins of all registries; undefined if no registry has a login. */
function authFile(registries: readonly RegistrySettings[]): Secret | undefined {
  const logins = registries.flatMap((registry) => {
    const login = loginOf(registry);
    return login === undefined ? [] : [{ host: registry.host, login }];
  });
  if (logins.length === 0) return undefined;
  return madeOfAll(
    logins.map(({ login }) => login),
    (headers) =>
      JSON.stringify({
        auths: Object.fromEntries(
          headers.map((header, i) => [logins[i]!.host, { auth: header.slice('Basic '.length) }]),
        ),
      }),
  );
}

function registryFiles(registries: readonly RegistrySettings[]): readonly RegistryFile[] {
  // registries.conf has no entry for all registries.
  const mirrored = registries.filter(({ host, mirrors }) => mirrors.length > 0 && host !== '_default');
  return [
    {
      path: MIRRORS_FILE,
      content:
        mirrored.length === 0 ? undefined : `${OWN_HEADER}.\n${stringify({ registry: mirrored.map(mirrorTable) })}`,
    },
    ...registries.flatMap(({ host, ca }) =>
      ca === undefined ? [] : [{ path: `${CERTS_FOLDER}/${host}/${CA_FILE}`, content: ca }],
    ),
    { path: AUTH_FILE, content: authFile(registries) },
  ];
}

/** Reads `crio config`, which comments out a setting that has its default value: `systemd` is one. */
function readConfig(out: string): RuntimeConfig | 'absent' | 'invalid' {
  if (out.trim() === '# absent') return 'absent';
  if (out.trimEnd().endsWith('# invalid')) return 'invalid';
  const { crio } = parseToml(out);
  const driver = valueAt(crio, 'runtime', 'cgroup_manager') ?? 'systemd';
  const standard = /^#\s*pause_image = "([^"]*)"/m.exec(out)?.[1] ?? '';
  return {
    cgroupDriver: driver === 'systemd' || driver === 'cgroupfs' ? driver : 'unset',
    sandboxImage: textAt(crio, 'image', 'pause_image') ?? standard,
    criDisabled: false,
  };
}

const config = probeInPlace(
  sh`if command -v crio >/dev/null; then crio config 2>/dev/null || echo '# invalid'; else echo '# absent'; fi`,
  readConfig,
);

const images = probeInPlace(
  using(
    'host/is-active.sh',
    sh`if [ -S ${SOCKET} ] && command -v crictl >/dev/null && is_active crio; then crictl -r ${`unix://${SOCKET}`} images -o json; fi`,
  ),
  (out): ReadonlySet<string> => {
    if (out.trim() === '') return new Set();
    const { images: found } = objectOf(JSON.parse(out));
    return new Set(objectsOf(found).flatMap(({ repoTags }) => textsIn(repoTags)));
  },
);

/**
 * CRI-O from its project's packages.
 * The packages overwrite 10-crio.conf at every upgrade, so kbuild's drop-in has a higher number.
 */
export const crio: ContainerRuntime<'crio'> = {
  name: 'crio',
  title: 'CRI-O',
  socket: SOCKET,
  reportedAs: 'cri-o',
  unit: 'crio',
  dataFolder: '/var/lib/containers/storage',
  dataFolderSetting: ['crio', 'root'],
  paths: {
    config: '/etc/crio/crio.conf.d/50-kbuild.conf',
    proxy: '/etc/systemd/system/crio.service.d/90-kbuild-proxy.conf',
  },
  defaults: {
    package: PACKAGE,
    repository: {
      url: 'https://download.opensuse.org/repositories/isv:/cri-o:/stable:/v{minor}/deb',
      suite: '/',
      component: 'main',
      key: 'Release.key',
      fingerprint: '85B67D5C50100B1AC8CEFE49CBA9C85640A2B579',
      rpm: {
        url: 'https://download.opensuse.org/repositories/isv:/cri-o:/stable:/v{minor}/rpm',
        suite: '/',
        component: 'main',
        key: 'repodata/repomd.xml.key',
        fingerprint: '85B67D5C50100B1AC8CEFE49CBA9C85640A2B579',
      },
    },
  },
  // CRI-O releases one minor for each minor of Kubernetes.
  version: (minor) => (minorFacts(minor) === undefined ? undefined : `${minor}.0`),
  misfit: (minor, version) =>
    minorOf(version) === minor
      ? undefined
      : { severity: 'error', message: `CRI-O ${minorOf(version)} is not for Kubernetes ${minor}; use ${minor}` },
  // CRI-O supports the three newest minors, and publishes no days.
  ends: {},
  otherPackages: [PACKAGE],
  // CRI-O's package configures both, and makes crun the default.
  handlers: { tables: HANDLER_TABLES, reserved: ['crun', 'runc'] },
  configuration: (inventory) => `${OWN_HEADER}.\n${stringify(settings(inventory))}`,
  validate: (path) => sh`if command -v crio >/dev/null; then crio --config ${path} config >/dev/null; fi`,
  sandboxImage,
  registryFiles,
  registriesFolder: { path: CERTS_FOLDER, use: 'shared' },
  ownRegistryFiles: sh`for file in ${[MIRRORS_FILE, AUTH_FILE]} ${CERTS_FOLDER}/*/${CA_FILE}; do if [ -f "$file" ]; then echo "$file"; fi; done`,
  probes: {
    config,
    images,
    // Containers of podman are not CRI-O's.
    containers: probeInPlace(sh`:`, (): ReadonlyMap<string, number> => new Map()),
    // Its monitors have scopes outside of the pods' slices: crio-conmon-ID.
    cgroupDriverInUse: cgroupDriverInUse('crio-[0-9a-f]{64}'),
  },
  ownerOf: (namespace) => namespace,
  signatures: [],
};
