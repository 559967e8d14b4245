import { stringify } from 'smol-toml';
import type { Inventory, RegistrySettings } from '../inventory/inventory.ts';
import { OWN_HEADER } from '../paths.ts';
import { madeOf, type Secret } from '../shell/secret.ts';
import { minorFacts } from '../versions.ts';

/** The host of a registry's API. Docker Hub's differs from the name in its images. */
export const registryServer = (registry: string): string =>
  registry === 'docker.io' ? 'registry-1.docker.io' : registry;

/** The inventory's settings of a registry; if it has none, those of all others (`_default`). */
export const registrySettings = (
  { registries }: Pick<Inventory['runtime'], 'registries'>,
  registry: string,
): RegistrySettings | undefined =>
  registries.find(({ host }) => host === registry) ?? registries.find(({ host }) => host === '_default');

/** The value of the header `Authorization` for the inventory's login to a registry; undefined without a login. */
export const loginOf = ({ username, password }: RegistrySettings): Secret | undefined =>
  username === undefined || password === undefined
    ? undefined
    : madeOf(password, (value) => `Basic ${Buffer.from(`${username}:${value}`).toString('base64')}`);

/** An image's full name as the runtime lists it: `nginx` is `docker.io/library/nginx:latest`. */
export function fullName(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const named = hasRegistry ? image : `docker.io/${rest.length === 0 ? 'library/' : ''}${image}`;
  return /[:@]/.test(named.slice(named.lastIndexOf('/'))) ? named : `${named}:latest`;
}

function hostsToml({ host, mirrors, ca }: RegistrySettings, caFile: string, authorization?: string): string {
  const trust = ca === undefined ? {} : { ca: caFile };
  const login = authorization === undefined ? {} : { header: { authorization: [authorization] } };
  const server = host === '_default' ? {} : { server: `https://${registryServer(host)}` };
  // Settings beside `server` apply to the registry itself; without mirrors it gets the login too.
  const itself = host === '_default' ? {} : { ...trust, ...(mirrors.length === 0 ? login : {}) };
  const table = Object.fromEntries(
    mirrors.map((url) => [url, { capabilities: ['pull', 'resolve'], ...trust, ...login }] as const),
  );
  return `${OWN_HEADER}.\n${stringify({ ...server, ...itself, ...(mirrors.length === 0 ? {} : { host: table }) })}`;
}

function content(registry: RegistrySettings, caFile: string): string | Secret {
  const login = loginOf(registry);
  return login === undefined
    ? hostsToml(registry, caFile)
    : madeOf(login, (value) => hostsToml(registry, caFile, value));
}

/**
 * The files of containerd's certs.d, which it reads at every pull. `root` ends in the separator. Windows has no `:` in
 * names of folders, and containerd reads `host_port_` there (its core/remotes/docker/config/hosts.go).
 */
export function registryFiles(
  registries: readonly RegistrySettings[],
  root: string,
  separator: '/' | '\\',
): readonly { readonly path: string; readonly content: string | Secret }[] {
  const folderOf = (host: string): string => root + (separator === '/' ? host : host.replace(/:(\d+)$/, '_$1_'));
  return registries.flatMap((registry) => {
    const ca = `${folderOf(registry.host)}${separator}ca.crt`;
    return [
      ...(registry.ca === undefined ? [] : [{ path: ca, content: registry.ca }]),
      {
        path: `${folderOf(registry.host)}${separator}hosts.toml`,
        content: content(registry, ca.replaceAll('\\', '/')),
      },
    ];
  });
}

/**
 * The pause image that kubeadm of the inventory's minor expects. The runtime's configuration must name the same image.
 */
export const pauseImage = ({ kubernetes }: Inventory): string =>
  `${kubernetes.imageRepository}/pause:${minorFacts(kubernetes.minor)?.images.pause ?? '3.10.2'}`;
