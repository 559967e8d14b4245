/** Containers of Docker or Podman that are hosts: made, looked at and removed by what the engine's own program does. */
import { existsSync } from 'node:fs';
import { LabError } from '../lab/errors.ts';
import { attempt, type Result, run } from '../lab/run.ts';
import { type ContainerHost, PUBLISHED_AT } from './container-inventory.ts';
import type { EngineName } from './way.ts';

/** Every container of a demo has it; its value is the run that made it. */
export const LABEL = 'kbuild-demo';
/** A label too: the settings of the machine's kernel before there were hosts, as JSON. */
const BEFORE = 'kbuild-demo.kernel';
/** What hosts are made of. It stays, so that the next demo is quicker. */
export const IMAGE = 'kbuild-demo';

/** Folders of programs that want a file system of a disk: a container's own is an overlay, on which none can lie. */
const VOLUMES = ['/var/lib/containerd', '/var/lib/kubelet', '/var/lib/etcd'];

/**
 * Settings of the kernel that no container has for itself: systemd and kubelets of hosts write this machine's. The first two
 * are limits that a server has for itself, and that three hosts together use up ("too many open files").
 */
const LIMITS = { 'fs/inotify/max_user_instances': 8192, 'fs/inotify/max_user_watches': 1_048_576 } as const;
const KERNEL = [
  ...Object.keys(LIMITS),
  ...['fs/file-max', 'fs/nr_open', 'vm/overcommit_memory', 'vm/panic_on_oom'],
  ...['kernel/panic', 'kernel/panic_on_oops', 'kernel/keys/root_maxkeys', 'kernel/keys/root_maxbytes'],
];

/** A container that was made. */
export interface Container extends ContainerHost {
  readonly id: string;
  /** Where the API server of a control plane is published on 127.0.0.1; undefined for others. */
  readonly apiPort: number | undefined;
}

/** How containers are made. */
export interface Making {
  readonly run: string;
  /** What `kernelSettings` returned before the first. */
  readonly before: string;
  /** The modules of the machine's kernel are at /lib/modules there. */
  readonly modules: boolean;
}

const NAME_PREFIX = 'kbuild-';

/** Runs the engine's program to its end; a Ctrl-C for us does not end it, so that it is known what was made. */
export const engineRun = (engine: EngineName, args: readonly string[], input?: string): Promise<string> =>
  run(engine, args, { detached: true, ...(input === undefined ? {} : { input }) });

/** Runs a shell command in a container, and returns whatever came of it. */
export const inContainer = (engine: EngineName, name: string, command: string, input?: string): Promise<Result> =>
  attempt(engine, ['exec', '-i', NAME_PREFIX + name, 'sh', '-c', command], { input: input ?? '', detached: true });

/** The same; throws LabError when it fails. */
export async function mustRun(engine: EngineName, name: string, command: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await inContainer(engine, name, command, input);
  if (code !== 0) throw new LabError(`${name}: ${command}: exit ${String(code)}\n${stderr.trim()}`);
  return stdout;
}

/** Whether /lib/modules of the machine with the engine can be given to containers: a virtual machine has it, this one perhaps. */
export const hasModules = (system: string, platform: NodeJS.Platform): boolean =>
  platform !== 'linux' || system.includes('Docker Desktop') || existsSync('/lib/modules');

/** IDs of all containers of demos, or of those that a run made. */
export async function demoContainers(engine: EngineName, run?: string): Promise<readonly string[]> {
  const filter = `label=${LABEL}${run === undefined ? '' : `=${run}`}`;
  const ids = await engineRun(engine, ['ps', '--all', '--quiet', '--no-trunc', '--filter', filter]);
  return ids.split('\n').filter((id) => id !== '');
}

/** A shell in a container that may change the machine's kernel, gone when it has ended. */
const onMachine = (engine: EngineName, image: string, script: string, words: readonly string[]): Promise<string> =>
  engineRun(engine, ['run', '--rm', '--privileged', '--label', LABEL, '--entrypoint', 'sh', image, '-c', script, 'sh', ...words]); // prettier-ignore

/** Settings of the machine's kernel that hosts change, as JSON. */
export async function kernelSettings(engine: EngineName): Promise<string> {
  const script = 'for f; do v=$(cat "/proc/sys/$f") && printf "%s=%s\\n" "$f" "$v"; done; true';
  const lines = (await onMachine(engine, IMAGE, script, KERNEL)).trim().split('\n');
  const pairs = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  return JSON.stringify(Object.fromEntries(pairs));
}

/** Writes those that have another value; `least`: only those that are less. */
async function setKernel(
  engine: EngineName,
  image: string,
  values: Readonly<Record<string, string | number>>,
  comparison: '!=' | '-lt',
): Promise<void> {
  const script = `while [ $# -gt 0 ]; do v=$(cat "/proc/sys/$1") && [ "$v" ${comparison} "$2" ] && echo "$2" > "/proc/sys/$1"; shift 2; done; true`;
  const words = Object.entries(values).flatMap(([name, value]) => [name, String(value)]);
  await onMachine(engine, image, script, words);
}

/** Raises the limits that hosts share. `removeContainers` takes it back. */
export const raiseLimits = (engine: EngineName): Promise<void> => setKernel(engine, IMAGE, LIMITS, '-lt');

/** Makes a host. Returns its ID. */
export async function makeContainer(
  engine: EngineName,
  name: string,
  isControlPlane: boolean,
  { run: by, before, modules }: Making,
): Promise<string> {
  const id = await engineRun(engine, [
    ...['run', '--detach', '--name', NAME_PREFIX + name, '--hostname', name],
    ...['--label', `${LABEL}=${by}`, '--label', `${BEFORE}=${before}`],
    ...['--privileged', '--cgroupns', 'private', '--tmpfs', '/run:exec', '--tmpfs', '/tmp:exec'],
    ...VOLUMES.flatMap((path) => ['--volume', path]),
    ...(modules ? ['--volume', '/lib/modules:/lib/modules:ro'] : []),
    ...['--publish', `${PUBLISHED_AT}::22`, ...(isControlPlane ? ['--publish', `${PUBLISHED_AT}::6443`] : [])],
    IMAGE,
  ]);
  return id.trim();
}

type Ports = Readonly<Record<string, readonly { readonly HostPort: string }[] | null>>;
interface NetworkSettings {
  readonly IPAddress?: string;
  readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string }>>;
  readonly Ports?: Ports;
}

/** Address and ports of a container, from the JSON of its NetworkSettings. @throws LabError when there are none */
export function networkOf(name: string, json: string): Pick<Container, 'internalAddress' | 'sshPort' | 'apiPort'> {
  const { IPAddress = '', Networks = {}, Ports = {} } = JSON.parse(json) as NetworkSettings;
  const internalAddress = [IPAddress, ...Object.values(Networks).map((one) => one.IPAddress ?? '')].find(
    (address) => address !== '',
  );
  const port = (inside: string): number | undefined => {
    const published = Ports[inside]?.[0]?.HostPort;
    return published === undefined ? undefined : Number(published);
  };
  const sshPort = port('22/tcp');
  if (internalAddress === undefined || sshPort === undefined)
    throw new LabError(`${name}: the container has no address, or no published port (found ${json})`);
  return { internalAddress, sshPort, apiPort: port('6443/tcp') };
}

/** What a container got. */
export async function lookAt(engine: EngineName, name: string, id: string): Promise<Container> {
  const json = await engineRun(engine, ['inspect', '--format', '{{json .NetworkSettings}}', id]);
  return { name, id, ...networkOf(name, json) };
}

/** @throws LabError with its last words when a container has ended */
export async function requireRunning(engine: EngineName, { name, id }: Container): Promise<void> {
  if ((await engineRun(engine, ['inspect', '--format', '{{.State.Running}}', id])).trim() === 'true') return;
  const { stdout, stderr } = await attempt(engine, ['logs', '--tail', '20', id], { detached: true });
  throw new LabError(`${name}: the container has ended:\n${stdout}${stderr}`);
}

/** Removes these containers with all that they wrote, and sets the machine's kernel back. */
export async function removeContainers(engine: EngineName, ids: readonly string[]): Promise<void> {
  const [first] = ids;
  if (first === undefined) return;
  const format = `{{.Image}} {{index .Config.Labels "${BEFORE}"}}`;
  const found = (await engineRun(engine, ['inspect', '--format', format, first])).trim();
  await engineRun(engine, ['rm', '--force', '--volumes', ...ids]);
  const [image = IMAGE, ...before] = found.split(' ');
  if (before.join('').startsWith('{'))
    await setKernel(engine, image, JSON.parse(before.join(' ')) as Readonly<Record<string, string>>, '!=');
}
