/** Hosts with Docker Engine and cri-dockerd, which the lab builds. */
import { createServer, type Server } from 'node:https';
import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnDemand } from './build-all.ts';
import { DOCKER_PATH } from './docker-recipes.ts';
import type { LabInventory } from './inventory.ts';
import { ensureKeys } from './keys.ts';
import { GATEWAY, PACKAGES_URL, REGISTRY_PORT } from './network-plan.ts';
import { makeAuthority, makeLeaf } from './openssl.ts';
import { paths } from './paths.ts';
import { sha256 } from './published-site.ts';
import { inside } from './ssh.ts';
import { VERSIONS } from './versions.ts';

/** The registries that images of a cluster come from. */
const REGISTRIES = ['registry.k8s.io', 'ghcr.io'];

/** Makes the packages, unless they are there, and returns `runtime:` of a host with Docker Engine. */
export async function dockerRuntime(): Promise<Readonly<Record<string, unknown>>> {
  await buildOnDemand(DOCKER_PATH);
  const { containerd: fingerprint } = await ensureKeys();
  const url = `${PACKAGES_URL}/${DOCKER_PATH}`;
  return {
    name: 'docker',
    version: VERSIONS.docker,
    repository: { url, suite: 'bookworm', component: 'stable', key: `${url}/gpg`, fingerprint },
    // Hosts have no CAP_SYS_RESOURCE, see `build/docker-repository/lab-runc`. Their disk is an overlayfs, on which Docker's own cannot be.
    config: {
      'data-root': '/var/lib/containers/docker',
      'default-runtime': 'lab-runc',
      runtimes: { 'lab-runc': { path: '/usr/libexec/docker/lab-runc' } },
    },
  };
}

/** `downloads:` of an inventory with such hosts. The lab serves the archive without TLS, so its SHA-256 stands there. */
export function criDockerdDownload(): object {
  const { criDockerd: version } = VERSIONS;
  const archive = `${DOCKER_PATH}/cri-dockerd/cri-dockerd-${version}.amd64.tgz`;
  return {
    criDockerd: { version, url: `${PACKAGES_URL}/${DOCKER_PATH}/cri-dockerd/cri-dockerd-{version}.{arch}.tgz` },
    sha256: { [`${PACKAGES_URL}/${archive}`]: sha256(join(paths.www, archive)) },
  };
}

/** The lab's images under the names of their own registries, by TLS of an authority of its own: Docker Engine knows mirrors of docker.io alone. */
export interface NamedRegistries {
  /** `runtime.registries` of an inventory. */
  readonly registries: readonly object[];
  /** Lets a host find them. */
  readonly nameOn: (host: string) => Promise<void>;
  readonly close: () => void;
}

const listening = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => server.once('error', reject).listen(443, GATEWAY, resolve));

/** Starts them. `folder`: for the authority. */
export async function namedRegistries(folder: string): Promise<NamedRegistries> {
  const authority = await makeAuthority(folder, 'named-registries');
  const { cert, key } = await makeLeaf(
    folder,
    'registries',
    authority,
    REGISTRIES.map((name) => `DNS:${name}`),
  );
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (from, to) => {
    const { method, headers, url: path } = from;
    const passed = request({ host: GATEWAY, port: REGISTRY_PORT, method, headers, path }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    passed.on('error', () => to.destroy());
    from.pipe(passed);
  });
  await listening(server);
  return {
    registries: REGISTRIES.map((host) => ({ host, ca: authority.cert })),
    nameOn: async (host) => {
      await inside(host, `echo '${GATEWAY} ${REGISTRIES.join(' ')}' >>/etc/hosts`);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Settings of an inventory in which these hosts have Docker Engine and the others what `plain`, that of the lab, gives them. */
export function withDocker(
  plain: LabInventory,
  hosts: readonly string[],
  runtime: object,
  { registries }: NamedRegistries,
): Readonly<Record<string, unknown>> {
  return {
    runtime: { ...(plain['runtime'] as object), registries },
    downloads: criDockerdDownload(),
    hosts: plain.hosts.map((host) => (hosts.includes(host.name) ? { ...host, runtime } : host)),
  };
}
