/** The demo with containers as hosts: makes three, runs `kbuild up` on them, and shows what came of it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { stateFolder } from '../../src/session/context.ts';
import { Unmet } from '../lab/errors.ts';
import { roleOf } from '../lab/inventory.ts';
import { echoThroughService, kubectl } from '../lab/pods.ts';
import { progress } from '../lab/progress.ts';
import type { Result } from '../lab/run.ts';
import { sshBanner } from '../lab/ssh-banner.ts';
import { PATIENCE_MS, waitUntil } from '../lab/wait-until.ts';
import { containerInventory, PUBLISHED_AT } from './container-inventory.ts';
import {
  type Container,
  demoContainers,
  hasModules,
  IMAGE,
  inContainer,
  kernelSettings,
  lookAt,
  makeContainer,
  mustRun,
  raiseLimits,
  removeContainers,
  requireRunning,
} from './containers.ts';
import type { Options } from './options.ts';
import { goOn, heedSignals, shown } from './shown.ts';
import type { EngineName, EngineState } from './way.ts';

const HOSTS = ['demo-cp1', 'demo-w1', 'demo-w2'] as const;
const [CONTROL_PLANE, ...WORKERS] = HOSTS;
const DEBIAN = 'docker.io/library/debian:12';
const DOCKERFILE = join(import.meta.dirname, 'container');
/** One greeting of an SSH server. */
const GREETING_MS = 2000;

/** Where a demo keeps its inventory, its key and its kubeconfig: beside kbuild's own folder. */
export const demoFolder = (): string => resolve(stateFolder(process, 'demo'), '../../kbuild-demo');

/** Ends the containers of demos. */
export async function containersDown(engine: EngineName): Promise<void> {
  const ids = await demoContainers(engine);
  await removeContainers(engine, ids);
  rmSync(demoFolder(), { recursive: true, force: true });
  progress(`${engine}: removed ${String(ids.length)} containers; the image stays: ${engine} rmi ${IMAGE}`);
}

/** A host answers when its sshd greets; its keys come by the engine, not by the network. */
async function ready(engine: EngineName, host: Container): Promise<string> {
  const { name, sshPort } = host;
  await waitUntil(`${name}: an answer of sshd at port ${String(sshPort)}`, PATIENCE_MS, async () => {
    goOn();
    if (await sshBanner(PUBLISHED_AT, GREETING_MS, sshPort)) return true;
    await requireRunning(engine, host);
    return false;
  });
  const keys = await mustRun(engine, name, 'cat /etc/ssh/ssh_host_ed25519_key.pub /etc/ssh/ssh_host_ecdsa_key.pub');
  return knownHosts(sshPort, keys);
}

/** Lines of known_hosts for the published port of a host with these public keys. Pure. */
export const knownHosts = (sshPort: number, keys: string): string =>
  keys
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `[${PUBLISHED_AT}]:${String(sshPort)} ${line.split(' ').slice(0, 2).join(' ')}\n`)
    .join('');

/** A new key that all hosts accept for root. A container makes it: this machine may have no OpenSSH. */
async function newKey(engine: EngineName): Promise<string> {
  const made = await mustRun(
    engine,
    CONTROL_PLANE,
    'ssh-keygen -q -t ed25519 -N "" -C kbuild-demo -f /run/demo-key && cat /run/demo-key.pub /run/demo-key && rm /run/demo-key /run/demo-key.pub',
  );
  const end = made.indexOf('\n') + 1;
  for (const name of HOSTS)
    await mustRun(engine, name, 'umask 077; cat > /root/.ssh/authorized_keys', made.slice(0, end));
  return made.slice(end);
}

/** Writes the files of the demo anew; returns the inventory's. */
function writeFiles(
  folder: string,
  key: string,
  known: string,
  hosts: readonly Container[],
  settings: Readonly<Record<string, unknown>>,
): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = { identityFile: join(folder, 'id_ed25519'), knownHostsFile: join(folder, 'known_hosts') };
  writeFileSync(files.identityFile, key, { mode: 0o600 });
  writeFileSync(files.knownHostsFile, known);
  const file = join(folder, 'demo.yaml');
  writeFileSync(file, stringify(containerInventory(hosts, files, settings), { aliasDuplicateObjects: false }));
  return file;
}

/** A kubeconfig that leads to the published port. Pure. */
export const atPublishedPort = (kubeconfig: string, port: number): string =>
  kubeconfig.replace(/server: https:\/\/\S+/, `server: https://${PUBLISHED_AT}:${String(port)}`);

async function show(engine: EngineName, folder: string, controlPlane: Container): Promise<void> {
  const ask = (command: string, input?: string): Promise<Result> => {
    goOn();
    return inContainer(engine, CONTROL_PLANE, command, input);
  };
  process.stdout.write(`\n$ kubectl get nodes -o wide\n${await kubectl(ask, 'get nodes -o wide')}`);
  const { from, to, answer } = await echoThroughService(ask, WORKERS);
  process.stdout.write(`\na pod on ${from} asked a Service; the pod on ${to} answered: ${answer}\n`);
  const kubeconfig = join(folder, 'local.kubeconfig');
  const made = readFileSync(join(folder, 'demo.kubeconfig'), 'utf8');
  writeFileSync(kubeconfig, atPublishedPort(made, controlPlane.apiPort!), { mode: 0o600 });
  progress(`inventory: ${join(folder, 'demo.yaml')}; kubeconfig: ${kubeconfig}; end it with: npm run demo -- --down`);
}

/** Boots three containers. They are known by their label from the first moment on. */
async function boot(engine: EngineName, run: string, modules: boolean): Promise<readonly Container[]> {
  const before = await kernelSettings(engine);
  const made: Container[] = [];
  for (const name of HOSTS) {
    goOn();
    const isControlPlane = roleOf(name) === 'control-plane';
    const id = await makeContainer(engine, name, isControlPlane, { run, before, modules });
    made.push(await lookAt(engine, name, id));
  }
  await raiseLimits(engine);
  progress(`${engine}: ${HOSTS.join(', ')} boot`);
  return made;
}

/** @throws Unmet for a file that is no mapping */
function settingsIn(file: string | undefined): Readonly<Record<string, unknown>> {
  if (file === undefined) return {};
  const settings: unknown = parse(readFileSync(file, 'utf8'));
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw new Unmet(`${file}: not settings of an inventory`);
  return settings as Readonly<Record<string, unknown>>;
}

/**
 * The demo. Its containers stay when all went well, and are removed when not.
 * @throws Unmet while there are containers of a demo; LabError for whatever else fails
 */
export async function containerDemo(
  engine: EngineName,
  state: EngineState,
  { base = DEBIAN, settings: settingsFile }: Pick<Options, 'base' | 'settings'>,
): Promise<void> {
  const settings = settingsIn(settingsFile);
  if ((await demoContainers(engine)).length > 0)
    throw new Unmet(`${engine} has containers of a demo already: end it with npm run demo -- --down`);
  heedSignals();
  await shown('npm', ['run', '--silent', 'build']);
  await shown(engine, ['build', '--tag', IMAGE, '--build-arg', `BASE=${base}`, DOCKERFILE]);
  const run = randomBytes(6).toString('hex');
  const folder = demoFolder();
  const modules = hasModules(state.kind === 'answers' ? state.system : '', process.platform);
  try {
    const hosts = await boot(engine, run, modules);
    const known = await Promise.all(hosts.map((host) => ready(engine, host)));
    const file = writeFiles(folder, await newKey(engine), known.join(''), hosts, settings);
    const kubeconfig = join(folder, 'demo.kubeconfig');
    await shown(process.execPath, ['dist/cli/main.js', 'up', file, '--yes', '--kubeconfig', kubeconfig]);
    await show(engine, folder, hosts[0]!);
    goOn();
  } catch (error) {
    progress(`${engine}: removes the containers of this demo`);
    await demoContainers(engine, run)
      .then((ids) => removeContainers(engine, ids))
      .catch((failure: unknown) => {
        progress(`${(failure as Error).message}; remove them: npm run demo -- --down`);
      });
    throw error;
  }
}
