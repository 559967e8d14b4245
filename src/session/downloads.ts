import type { Kinds } from '../cluster/fleet/fleet.ts';
import type { Distribution } from '../host/packages/distribution.value.ts';
import { placed, placedRepository, supportedDistribution } from '../host/packages/distributions.value.ts';
import type { Wanted } from '../host/packages/downloads.survey.ts';
import {
  getsBinaries,
  handlerPackage,
  isBuiltIn,
  isInstalledAs,
  systemRuntime,
} from '../host/packages/installer.value.ts';
import type { RepositoryId } from '../host/packages/package-manager.value.ts';
import { anyVersion, goArchitecture, programFiles, runtimePrograms } from '../host/packages/sources.value.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, PackageRepository } from '../inventory/inventory.ts';
import { HANDLERS } from '../runtime/handlers.value.ts';
import { roleImages } from '../runtime/images.step.ts';
import { fullName, loginOf, registryServer, registrySettings } from '../runtime/registries.value.ts';
import { containerRuntime } from '../runtime/runtimes.value.ts';
import { atRuntimeOf } from '../runtime/version.step.ts';
import { madeOf } from '../shell/secret.ts';

type Seen = Kinds['linux'];

/** The variables by which package managers put their name of the architecture into the URL of a repository. */
const withArchitecture = (url: string, machine: string): string =>
  url.replaceAll('$(ARCH)', goArchitecture(machine)).replaceAll('$basearch', machine);

/** `version`: undefined for a package that is installed in the newest one. */
function repositoryWanted(
  name: string,
  repository: PackageRepository,
  version: string | undefined,
  { facts }: Seen,
  distribution: Distribution,
): readonly Wanted[] {
  if (distribution.packages === undefined) return [];
  const source = distribution.packages.pick(repository);
  const { key, fingerprint } = source;
  const { index, packages } = distribution.packages.lists(placedRepository(source, distribution, facts), facts.arch);
  return [
    {
      kind: 'repository',
      what: `the repository of ${name}`,
      urls: index.map((url) => withArchitecture(url, facts.arch)),
    },
    ...(packages === undefined || version === undefined
      ? []
      : [{ kind: 'packages' as const, what: `${name} ${version}`, urls: [packages], word: `${version}-` }]),
    ...('url' in key
      ? [
          {
            kind: 'key' as const,
            what: `the signing key of ${name}`,
            urls: [placed(key.url, distribution, facts)],
            word: fingerprint,
          },
        ]
      : []),
  ];
}

/** The URLs of an image at its registry and mirrors. `rest` follows the image's name, e.g. `manifests/1.2`. */
function registryWanted({ runtime }: Inventory, image: string, rest: string): Pick<Wanted, 'urls' | 'registry'> {
  const [registry = '', ...words] = image.split('/');
  const path = words.join('/');
  const settings = registrySettings(runtime, registry);
  const mirrors = (settings?.mirrors ?? []).map(
    (base) => `${base.replace(/\/$/, '')}/v2/${path}/${rest}?ns=${registry}`,
  );
  const urls = [...mirrors, `https://${registryServer(registry)}/v2/${path}/${rest}`];
  if (settings === undefined || (settings.username === undefined && settings.ca === undefined)) return { urls };
  const authorization = loginOf(settings);
  return {
    urls,
    registry: {
      host: settings.host,
      ...(settings.ca === undefined ? {} : { ca: settings.ca }),
      ...(authorization === undefined
        ? {}
        : { authorization: madeOf(authorization, (value) => `Authorization: ${value}`) }),
    },
  };
}

/** The manifest of an image, by its tag or digest. */
function imageWanted(inventory: Inventory, what: string): Wanted {
  const [, name = '', tag = '', digest] = /^([^@]*?)(?::([^:/@]+))?(?:@(.+))?$/.exec(what) ?? [];
  return { kind: 'image', what, ...registryWanted(inventory, name, `manifests/${digest ?? tag}`) };
}

/** Images whose tags only the installed kubeadm knows: they change with patch releases. */
function kubeadmsOwn(inventory: Inventory, { facts }: Seen): readonly Wanted[] {
  const { imageRepository } = inventory.kubernetes;
  // kubeadm's own rule: only below the default repository CoreDNS has a folder.
  const coredns = imageRepository === 'registry.k8s.io' ? 'coredns/coredns' : 'coredns';
  const names = inventory.etcd.topology === 'stacked' ? ['etcd', coredns] : [coredns];
  return names
    .map((name) => fullName(`${imageRepository}/${name}`).replace(/:latest$/, ''))
    .filter((image) => ![...facts.images].some((one) => one.startsWith(`${image}:`)))
    .map((image) => ({ kind: 'tags', what: image, ...registryWanted(inventory, image, 'tags/list') }));
}

/** True if all packages are installed at this version: they are not downloaded again. */
const hasAll = (
  target: Seen & { readonly inventory: Inventory },
  source: RepositoryId,
  names: readonly string[],
  version: string,
): boolean =>
  names.every((name) => {
    const state = target.facts.packages.get(name);
    return state?.state === 'installed' && isInstalledAs(target, [source], state, version);
  });

/**
 * The checksums of published programs, which lie beside them, and the signatures that the host will verify. A program
 * with a checksum of the inventory is not asked for.
 */
function programsWanted(
  inventory: Inventory,
  { facts }: Seen,
  names: readonly string[],
  version: string,
): readonly Wanted[] {
  const place = { architecture: goArchitecture(facts.arch), folder: '' };
  return names
    .flatMap((name) =>
      programFiles(inventory, place, name, name === 'kubernetes-cni' ? anyVersion(inventory, name) : version),
    )
    .flatMap(({ name, url, proof, signature }) => {
      const isVerified = signature === 'required' || (signature === 'auto' && facts.cosign);
      const beside = (what: string, at: string): Wanted => ({
        kind: 'repository',
        what: `${what} of ${name}`,
        urls: [at],
      });
      return [
        ...(typeof proof !== 'string' && 'url' in proof ? [beside('the checksum', proof.url)] : []),
        ...(isVerified ? [beside('the signature', `${url}.sig`), beside('the certificate', `${url}.cert`)] : []),
      ];
    });
}

/** True if kbuild has installed the program at this version. */
const hasProgram = ({ facts }: Seen, name: string, version: string): boolean => {
  const state = facts.binaries.get(name);
  return state?.state === 'installed' && state.version === version;
};

/** The repositories from which kbuild installs programs of the runtime's further handlers. */
const handlersWanted = (inventory: Inventory, seen: Seen, distribution: Distribution): readonly Wanted[] =>
  inventory.runtime.handlers.flatMap(({ kind, from }) => {
    const wanted = from === 'package' ? handlerPackage(seen, kind) : undefined;
    return wanted === undefined || seen.facts.packages.get(wanted.name)?.state === 'installed'
      ? []
      : repositoryWanted(HANDLERS[kind].title, wanted.repository, undefined, seen, distribution);
  });

/** Everything that the host needs for its role and does not have; nothing if its distribution is not supported. */
export function wantedDownloads(all: Inventory, seen: Seen): readonly Wanted[] {
  const inventory = inventoryOn(all, seen.host);
  const distribution = supportedDistribution(seen.facts);
  if (distribution === undefined || seen.host.role === 'load-balancer') return [];
  const { kubernetes } = inventory;
  const { runtime } = atRuntimeOf(inventory, seen);
  const target = { inventory, ...seen };
  const packages = ['kubelet', 'kubeadm', 'kubectl'];
  const isBinary = getsBinaries(seen);
  return [
    ...(hasAll(target, 'kubernetes', packages, kubernetes.version)
      ? []
      : isBinary
        ? programsWanted(inventory, seen, [...packages, 'kubernetes-cni'], kubernetes.version)
        : repositoryWanted('Kubernetes', kubernetes.repository, kubernetes.version, seen, distribution)),
    ...(isBuiltIn(seen, [runtime.name]) ||
    systemRuntime(seen, [runtime.name]) !== undefined ||
    hasAll(target, runtime.name, [runtime.package], runtime.version)
      ? []
      : isBinary
        ? programsWanted(inventory, seen, [runtime.package], runtime.version)
        : repositoryWanted(containerRuntime(inventory).title, runtime.repository, runtime.version, seen, distribution)),
    ...Object.entries(runtimePrograms(inventory))
      .filter(([name, version]) => !hasProgram(seen, name, version))
      .flatMap(([name, version]) => programsWanted(inventory, seen, [name], version)),
    ...handlersWanted(inventory, seen, distribution),
    ...roleImages({ inventory, host: seen.host })
      .filter((image) => !seen.facts.images.has(image))
      .map((image) => imageWanted(inventory, image)),
    ...(seen.host.role === 'control-plane' ? kubeadmsOwn(inventory, seen) : []),
  ];
}
