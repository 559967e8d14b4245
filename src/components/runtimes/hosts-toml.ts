import { stringify } from 'smol-toml';
import type { RegistrySettings } from '../../model/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { loginOf, registryServer } from '../registries.ts';
import { madeOf, type Secret } from '../../shell/secret.ts';

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
