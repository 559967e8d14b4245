import type { Fleet, Kinds } from '../facts/fleet.ts';
import { linuxFacts, observedLinux } from '../facts/fleet.ts';
import { clientsOf } from '../inventory/clients.ts';
import type { Inventory, LinuxHost, PackageRepository } from '../inventory/inventory.ts';
import { listeningPorts } from '../inventory/ports.ts';
import { supportedOs } from '../os/index.ts';
import { roleImages } from '../runtime/images.ts';
import { diskSync } from '../surveys/disk-sync.ts';
import { downloads, type Wanted } from '../surveys/downloads.ts';
import { portMatrix, type Way } from '../surveys/port-matrix.ts';
import type { Surveys } from '../surveys/surveys.ts';
import type { Run } from './run.ts';

type Seen = Kinds['linux'];

/** A host that kubeadm has not worked on. */
export const isFresh = ({ facts }: Seen): boolean => facts.kubernetesTraces.size === 0;

/** The ways between hosts that were reached; `about`: only those from or to these. */
export function neededWays(inventory: Inventory, fleet: Fleet, about: readonly Seen[]): readonly Way[] {
  const reached = observedLinux(fleet);
  const meant = new Set(about.map(({ host }) => host.name));
  return reached.flatMap(({ host, facts }) =>
    listeningPorts(inventory, host).flatMap(({ port, protocol, program, from }): readonly Way[] => {
      const clients = clientsOf(inventory, host, from).filter(
        (one): one is LinuxHost => one.os === 'linux' && linuxFacts(fleet, one) !== undefined,
      );
      const needed = clients.filter(({ name }) => meant.has(host.name) || meant.has(name));
      const held = facts.listeners.some((one) => one.port === port && one.protocol === protocol);
      const free = isFresh({ host, facts }) && !held;
      return needed.length === 0 ? [] : [{ to: host, port, protocol, program, from: needed, free }];
    }),
  );
}

function repositoryWanted(
  name: string,
  repository: PackageRepository,
  version: string,
  { facts }: Seen,
): readonly Wanted[] {
  const placed = (text: string): string =>
    text.replaceAll('{distribution}', facts.osRelease.id).replaceAll('{codename}', facts.osRelease.codename);
  const url = placed(repository.url).replace(/\/$/, '');
  const { key, suite, fingerprint } = repository;
  const lists: readonly Wanted[] =
    suite === undefined
      ? [
          { kind: 'repository', what: `the repository of ${name}`, urls: [`${url}/InRelease`, `${url}/Release`] },
          { kind: 'packages', what: `${name} ${version}`, urls: [`${url}/Packages`], word: `${version}-` },
        ]
      : [
          {
            kind: 'repository',
            what: `the repository of ${name}`,
            urls: ['InRelease', 'Release'].map((file) => `${url}/dists/${placed(suite)}/${file}`),
          },
        ];
  return [
    ...lists,
    ...('url' in key
      ? [{ kind: 'key' as const, what: `the signing key of ${name}`, urls: [placed(key.url)], word: fingerprint }]
      : []),
  ];
}

/** Where an image's manifest is, mirrors first; none where only a login leads to it. */
export function manifestUrls({ runtime }: Inventory, image: string): readonly string[] {
  const [registry = '', ...rest] = image.split('/');
  const [path = '', tag = ''] = rest.join('/').split(/:(?=[^/:]*$)/);
  const settings =
    runtime.registries.find(({ host }) => host === registry) ??
    runtime.registries.find(({ host }) => host === '_default');
  if (settings?.username !== undefined || settings?.ca !== undefined) return [];
  const own = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  const mirrors = (settings?.mirrors ?? []).map(
    (base) => `${base.replace(/\/$/, '')}/v2/${path}/manifests/${tag}?ns=${registry}`,
  );
  return [...mirrors, `https://${own}/v2/${path}/manifests/${tag}`];
}

/** What a host of its role will download. */
export function wantedDownloads(inventory: Inventory, seen: Seen): readonly Wanted[] {
  if (seen.host.role === 'load-balancer') return [];
  const { kubernetes, runtime } = inventory;
  const images = roleImages({ inventory, host: seen.host }).flatMap((what): readonly Wanted[] => {
    const urls = manifestUrls(inventory, what);
    return what.includes('@') || urls.length === 0 ? [] : [{ kind: 'image', what, urls }];
  });
  return [
    ...repositoryWanted('Kubernetes', kubernetes.repository, kubernetes.version, seen),
    ...repositoryWanted('containerd', runtime.repository, runtime.version, seen),
    ...images,
  ];
}

/** Why nothing can be asked for yet from a host; undefined when it can. */
function notYet(seen: Seen, wanted: readonly Wanted[]): string | undefined {
  if (supportedOs(seen.facts) === undefined) return 'downloads were not asked for: the system is not supported';
  const tls = wanted.some(({ urls }) => urls.some((url) => url.startsWith('https:')));
  return tls && !seen.facts.packages.has('ca-certificates')
    ? 'downloads were not asked for: up first installs the certificates of public authorities (ca-certificates)'
    : undefined;
}

const EMPTY = { http: '', https: '', noProxy: '' };

/**
 * The surveys about some hosts: the ways between them and all others, and on those that are fresh the disks for etcd and
 * what they will download. Nothing that runs is disturbed: a port that is held is only connected to, a disk that holds
 * etcd is left alone.
 */
export async function survey({ connected, inventory }: Run, about: readonly Seen[]): Promise<Surveys> {
  const fleet = connected.watch.fleet();
  const { on } = connected;
  const reached = observedLinux(fleet).map(({ host }) => host);
  const etcd = about.filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd');
  const fresh = about.filter(isFresh).map((seen) => ({ ...seen, wanted: wantedDownloads(inventory, seen) }));
  const proxy = inventory.proxy;
  const way =
    proxy === undefined
      ? EMPTY
      : { http: proxy.http ?? '', https: proxy.https ?? '', noProxy: proxy.noProxy.join(',') };
  const [ports, disks, got] = await Promise.all([
    portMatrix(on, reached, neededWays(inventory, fleet, about)),
    diskSync(
      on,
      etcd.filter(isFresh).map(({ host }) => host),
    ),
    downloads(
      on,
      fresh.filter((seen) => notYet(seen, seen.wanted) === undefined),
      way,
    ),
  ]);
  return {
    ports,
    disks: [
      ...disks,
      ...etcd.flatMap((seen) => (isFresh(seen) ? [] : [{ host: seen.host, skipped: 'etcd runs there' }])),
    ],
    downloads: [
      ...got,
      ...fresh.flatMap((seen) => {
        const skipped = notYet(seen, seen.wanted);
        return skipped === undefined ? [] : [{ host: seen.host, skipped }];
      }),
    ],
  };
}

/** Those of the hosts with changes due that `up` is about to change for the first time. */
export const firstChanged = ({ connected }: Run, changed: ReadonlySet<string>): readonly Seen[] =>
  observedLinux(connected.watch.fleet()).filter((seen) => isFresh(seen) && changed.has(seen.host.name));
