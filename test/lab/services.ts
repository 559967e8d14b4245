import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { LabError } from './errors.ts';
import { withLock } from './flock.ts';
import {
  CALICO_IMAGES_PORT,
  CILIUM_IMAGES_PORT,
  CONFORMANCE_IMAGES_PORT,
  METALLB_IMAGES_PORT,
  GATEWAY,
  MORE_IMAGES_PORT,
  PACKAGES_PORT,
  PRIVATE_REGISTRY,
  PRIVATE_REGISTRY_BCRYPT,
  PRIVATE_REGISTRY_PORT,
  REGISTRY_PORT,
} from './network-plan.ts';
import { CONFORMANCE_IMAGES_PATH } from './conformance-recipes.ts';
import { paths } from './paths.ts';
import { recordedProcess, signal } from './process-id.ts';
import { CALICO_IMAGES_PATH, CILIUM_IMAGES_PATH, KUBE_VIP_PATH, METALLB_IMAGES_PATH } from './recipes.ts';
import { ensureTls, tls } from './tls.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

/** A server that all hosts share. It outlives the process that started it. */
interface Service {
  readonly name: string;
  readonly port: number;
  readonly command: readonly string[];
  /** It has something to serve. */
  readonly isOfUse?: boolean;
}

/** Registries of images that a test asked for: ports, and what they serve. */
const MORE_REGISTRIES = [
  { name: 'more-images', port: MORE_IMAGES_PORT, folder: join(paths.www, KUBE_VIP_PATH) },
  { name: 'cilium-images', port: CILIUM_IMAGES_PORT, folder: join(paths.www, CILIUM_IMAGES_PATH) },
  { name: 'metallb-images', port: METALLB_IMAGES_PORT, folder: join(paths.www, METALLB_IMAGES_PATH) },
  { name: 'calico-images', port: CALICO_IMAGES_PORT, folder: join(paths.www, CALICO_IMAGES_PATH) },
  {
    name: 'conformance-images',
    port: CONFORMANCE_IMAGES_PORT,
    folder: join(paths.www, CONFORMANCE_IMAGES_PATH),
  },
] as const;

const SERVICE_NAMES = ['packages', 'registry', 'private-registry', ...MORE_REGISTRIES.map(({ name }) => name)] as const;

/** The servers. `tools`: the folder with their programs. */
function services(tools: string): readonly Service[] {
  const registry = (name: string): readonly string[] => [
    join(tools, 'docker-registry'),
    'serve',
    join(paths.services, `${name}.yml`),
  ];
  return [
    {
      name: 'packages',
      port: PACKAGES_PORT,
      command: [join(tools, 'busybox'), 'httpd', '-f', '-p', `${GATEWAY}:${PACKAGES_PORT}`, '-h', paths.www],
    },
    { name: 'registry', port: REGISTRY_PORT, command: registry('registry') },
    { name: 'private-registry', port: PRIVATE_REGISTRY_PORT, command: registry('private-registry') },
    ...MORE_REGISTRIES.map(({ name, port, folder }) => ({
      name,
      port,
      command: registry(name),
      isOfUse: existsSync(folder),
    })),
  ];
}

const pidFile = (name: string): string => join(paths.services, `${name}.pid`);

/** Starts the shared servers that do not run. `tools`: the artifact with their programs. */
export async function servicesUp(tools: string): Promise<void> {
  await withLock('services', async () => {
    await mkdir(paths.services, { recursive: true });
    await ensureTls();
    await writeRegistrySettings();
    for (const service of services(tools)) if (service.isOfUse !== false) await start(service);
  });
}

/** Ends the shared servers. */
export async function servicesDown(): Promise<void> {
  await withLock('services', async () => {
    for (const name of SERVICE_NAMES) {
      const process = recordedProcess(pidFile(name));
      if (process !== undefined) {
        signal(process, 'SIGTERM');
        await waitUntil(`${name}: its end`, PATIENCE_MS, () => recordedProcess(pidFile(name)) === undefined);
      }
      await rm(pidFile(name), { force: true });
    }
  });
}

/** Which of the shared servers run. */
export const runningServices = (): readonly string[] =>
  SERVICE_NAMES.filter((name) => recordedProcess(pidFile(name)) !== undefined);

/** Two registries serve the same images, the private one over TLS, with a password; the others what a test asked for. */
async function writeRegistrySettings(): Promise<void> {
  const settings = (port: number, rootdirectory = paths.registry): object => ({
    version: '0.1',
    storage: { filesystem: { rootdirectory }, maintenance: { readonly: { enabled: true } } },
    http: { addr: `${GATEWAY}:${port}` },
    log: { level: 'warn' },
  });
  const htpasswd = join(paths.services, 'htpasswd');
  await writeFile(htpasswd, `${PRIVATE_REGISTRY.username}:${PRIVATE_REGISTRY_BCRYPT}\n`);
  const privately = {
    ...settings(PRIVATE_REGISTRY_PORT),
    http: { addr: `${GATEWAY}:${PRIVATE_REGISTRY_PORT}`, tls: { certificate: tls.certificate, key: tls.key } },
    auth: { htpasswd: { realm: 'lab', path: htpasswd } },
  };
  // JSON is YAML.
  await writeFile(join(paths.services, 'registry.yml'), JSON.stringify(settings(REGISTRY_PORT)));
  for (const { name, port, folder } of MORE_REGISTRIES)
    await writeFile(join(paths.services, `${name}.yml`), JSON.stringify(settings(port, folder)));
  await writeFile(join(paths.services, 'private-registry.yml'), JSON.stringify(privately));
}

async function start({ name, port, command }: Service): Promise<void> {
  if (recordedProcess(pidFile(name)) !== undefined) return;
  if (await listens(port))
    throw new LabError(`${GATEWAY}:${port} is taken by a process that the lab did not start: end it`);
  const log = openSync(join(paths.services, `${name}.log`), 'a');
  // It writes its own number down before it becomes the server: we may die at any point.
  const record = 'echo "$$ $(cut -d" " -f22 /proc/$$/stat)" > "$0"; exec "$@"';
  const args = ['-c', record, pidFile(name), ...command];
  const child = spawn('/bin/sh', args, { detached: true, stdio: ['ignore', log, log], cwd: '/' });
  closeSync(log);
  child.unref();
  await waitUntil(`${name}: an answer at port ${port}`, PATIENCE_MS, () => {
    if (child.exitCode !== null) throw new LabError(`${name} has ended: see ${join(paths.services, name)}.log`);
    return listens(port);
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: GATEWAY, port, timeout: 500 });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
