import { parse as parseToml } from 'smol-toml';
import { OWN_HEADER } from '../paths.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { compareVersions, minorOf } from '../versions.ts';
import {
  CERTS_D,
  containerdConfig,
  HANDLER_TABLES,
  handlerNames,
  handlersIn,
  RUNSC_CONFIG,
  runscConfig,
  sandboxImage,
  sandboxImageIn,
  valueAt,
} from './containerd-config.value.ts';
import { registryFiles } from './registries.value.ts';
import {
  cgroupDriverInUse,
  type ContainerRuntime,
  type RuntimeConfig,
  type RuntimeDefaults,
  type RuntimeMisfit,
} from './runtime.value.ts';

const place = {
  url: 'https://download.docker.com/linux/{distribution}',
  suite: '{codename}',
  component: 'stable',
  key: 'gpg',
} as const;

/**
 * Docker's own repository, which has Docker Engine and containerd. Its two kinds of packages are signed with different
 * keys (docs.docker.com/engine/install).
 */
export const dockerRepository: RuntimeDefaults['repository'] = {
  ...place,
  fingerprint: '9DC858229FC7DD38854AE2D88D81803C0EBFCD88',
  rpm: { ...place, fingerprint: '060A61C51B558A7F742B77AAC52FEB6B621E9F35' },
};

const SOCKET = '/run/containerd/containerd.sock';

/**
 * First supported containerd of each line, by Kubernetes minor (its RELEASES.md); lines newer than all of these fit.
 */
const SINCE: Readonly<Record<string, readonly string[]>> = {
  '1.34': ['1.6.39', '1.7.28', '2.0.6', '2.1.3'],
  '1.35': ['1.7.28', '2.1.5', '2.2.0'],
  '1.36': ['2.2.0', '2.3.0'],
  '1.37': ['2.2.0', '2.3.0'],
};

/**
 * The version that kbuild installs unless the inventory names another, by Kubernetes minor: the newest line that
 * containerd's RELEASES.md lists for the minor. 2.3 is supported until 2028-04; 2.2 ended in 2026-11, and no newer line
 * is listed for 1.34 and 1.35. The lab runs 2.2.9, which its inventories name.
 */
const DEFAULT: Readonly<Record<string, string>> = {
  '1.34': '2.2.9',
  '1.35': '2.2.9',
  '1.36': '2.3.7',
  '1.37': '2.3.7',
};

/** The oldest containerd that speaks CRI v1: kubelets have spoken no other since 1.26. */
const FIRST_CRI_V1 = '1.6.0';

const version = (minor: string): string | undefined => DEFAULT[minor];

/** The runc that containerd's own tests use (its script/setup/runc-version). */
const runcFor = (found: string): string => (compareVersions(minorOf(found), '2.3') < 0 ? '1.3.6' : '1.4.2');

/** True if containerd's own support matrix has this version for this Kubernetes minor. */
function isInMatrix(minor: string, found: string): boolean {
  const since = SINCE[minor] ?? [];
  const line = since.find((first) => minorOf(first) === minorOf(found));
  if (line !== undefined) return compareVersions(found, line) >= 0;
  return since.every((first) => compareVersions(found, first) > 0);
}

function misfit(minor: string, found: string): RuntimeMisfit | undefined {
  if (compareVersions(found, FIRST_CRI_V1) < 0)
    return { severity: 'error', message: `containerd ${found} has no CRI v1; use ${DEFAULT[minor]!}` };
  if (isInMatrix(minor, found)) return undefined;
  const since = SINCE[minor]!.join(', ');
  return {
    severity: 'warning',
    message: `containerd supports Kubernetes ${minor} from ${since} on, not in ${found}; use ${DEFAULT[minor]!}`,
  };
}

/**
 * Reads `containerd config dump`, the effective configuration migrated to the newest version, or a file of kbuild's
 * that sets as much.
 */
function readConfig(out: string): RuntimeConfig | 'absent' | 'invalid' {
  if (out.trim() === '# absent') return 'absent';
  if (out.trimEnd().endsWith('# invalid')) return 'invalid';
  const dump = parseToml(out);
  const disabled = Array.isArray(dump['disabled_plugins']) ? dump['disabled_plugins'].map(String) : [];
  const handlers = handlersIn(dump);
  const systemd = valueAt(handlers, 'runc', 'options', 'SystemdCgroup');
  return {
    cgroupDriver: systemd === true ? 'systemd' : systemd === false ? 'cgroupfs' : 'unset',
    sandboxImage: sandboxImageIn(dump),
    criDisabled: disabled.some(
      (name) => name === 'cri' || name.startsWith('io.containerd.cri') || name === 'io.containerd.grpc.v1.cri',
    ),
    labels:
      valueAt(dump, 'plugins', 'io.containerd.cri.v1.runtime', 'enable_selinux') === true ||
      valueAt(dump, 'plugins', 'io.containerd.grpc.v1.cri', 'enable_selinux') === true,
    handlers: typeof handlers === 'object' && handlers !== null ? Object.keys(handlers).sort() : [],
  };
}

const config = probeInPlace(script('runtime/probe-containerd-config.sh', { HEADER: OWN_HEADER }), readConfig);

/** Images in the namespace `k8s.io`. Some systems pack containerd's client as containerd-ctr. */
const images = probeInPlace(
  using(
    'host/is-active.sh',
    sh`client=; for name in containerd-ctr ctr; do if command -v $name >/dev/null; then client=$name; fi; done
     if [ -S ${SOCKET} ] && [ -n "$client" ] && is_active containerd; then "$client" -n k8s.io images ls -q; fi`,
  ),
  (out): ReadonlySet<string> => new Set(lines(out)),
);

/** The running shims, counted by namespace from containerd's state folder (`moby` is Docker's). */
const containers = probeInPlace(
  sh`for folder in /run/containerd/io.containerd.runtime.v2.task/*/*; do if [ -d "$folder" ]; then echo "$folder"; fi; done`,
  (out): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const path of lines(out)) {
      const namespace = path.split('/').at(-2)!;
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    }
    return counts;
  },
);

/** containerd, by default from Docker's repository. */
export const containerd: ContainerRuntime<'containerd'> = {
  name: 'containerd',
  title: 'containerd',
  socket: SOCKET,
  reportedAs: 'containerd',
  unit: 'containerd',
  dataFolder: '/var/lib/containerd',
  dataFolderSetting: ['root'],
  paths: {
    config: '/etc/containerd/config.toml',
    backup: '/etc/containerd/config.toml.kbuild-backup',
    proxy: '/etc/systemd/system/containerd.service.d/90-kbuild-proxy.conf',
  },
  defaults: {
    package: 'containerd.io',
    repository: dockerRepository,
  },
  published: {
    files: (version) => [
      { from: 'containerd', kind: 'archive', name: 'containerd' },
      { from: 'runc', version: runcFor(version), kind: 'program', name: 'runc' },
    ],
    unit: { template: 'runtime/containerd.service', path: '/etc/systemd/system/containerd.service' },
    builtIn: {
      path: '/etc/systemd/system/containerd.service.d/80-kbuild.conf',
      // Flatcar's unit starts `containerd --config ${CONTAINERD_CONFIG}`.
      content: '[Service]\nEnvironment=CONTAINERD_CONFIG=/etc/containerd/config.toml\n',
    },
  },
  version,
  misfit,
  // RELEASES.md of containerd; 1.7 and 2.0 were prolonged.
  ends: {
    '1.6': '2025-08-23',
    '1.7': '2026-09-30',
    '2.0': '2027-03-01',
    '2.1': '2026-07-03',
    '2.2': '2026-11-06',
    '2.3': '2028-04-30',
  },
  // Docker's and the distribution's.
  otherPackages: ['containerd.io', 'containerd'],
  handlers: {
    tables: HANDLER_TABLES,
    reserved: ['runc'],
    names: handlerNames,
    file: {
      path: RUNSC_CONFIG,
      kind: 'runsc',
      content: (handler, inventory) => `${OWN_HEADER}.\n${runscConfig(handler, inventory)}`,
    },
  },
  configuration: (inventory) => `${OWN_HEADER}.\n${containerdConfig(inventory)}`,
  validate: (path) => script('runtime/validate-containerd-config.sh', { CONFIG: path }),
  sandboxImage,
  registryFiles: (registries) => registryFiles(registries, `${CERTS_D}/`, '/'),
  registriesFolder: { path: CERTS_D, use: 'whole' },
  ownRegistryFiles: script('runtime/own-registry-files.sh', { REGISTRIES: CERTS_D, HEADER: OWN_HEADER }),
  probes: { config, images, containers, cgroupDriverInUse: cgroupDriverInUse('cri-containerd') },
  ownerOf: (namespace) => (namespace === 'k8s.io' ? undefined : namespace === 'moby' ? 'Docker' : namespace),
  signatures: [
    {
      name: 'cri-disabled',
      seen: /unknown service runtime\.v1\.RuntimeService/,
      cause: "containerd's CRI plugin is switched off in its configuration",
      remedy: 'kbuild writes the configuration; check runtime.config of the inventory',
    },
  ],
};
