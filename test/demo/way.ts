/** How `npm run demo` shows a build on this machine. Pure: `machine.ts` looks at the machine. */

/** Hosts in the lab, in containers of Docker or Podman, or a recorded build. The first that is possible is taken. */
export const WAYS = ['lab', 'docker', 'podman', 'recording'] as const;
export type Way = (typeof WAYS)[number];

/** A way that makes its hosts as containers. */
export type EngineName = Extract<Way, 'docker' | 'podman'>;

/** What `docker info` and `podman info` say. */
export type EngineState =
  | { readonly kind: 'absent' }
  /** Its program is there and nothing useful comes back; `message`: what it said. */
  | { readonly kind: 'silent'; readonly message: string }
  | {
      readonly kind: 'answers';
      readonly rootless: boolean;
      /** What its containers run: `linux`, or `windows`. */
      readonly containers: string;
      /** As it calls the system that it runs on; empty if it does not say. */
      readonly system: string;
      readonly cpus: number;
      readonly memoryBytes: number;
    };

/** What the choice depends on. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Of this process; undefined where there are none. */
  readonly uid: number | undefined;
  /** /etc/os-release; empty where there is none. */
  readonly osRelease: string;
  readonly engines: Readonly<Record<EngineName, EngineState>>;
}

/** A way, and for every other one what it lacks here. */
export interface Choice {
  readonly way: Way;
  /** Of each way: what stands against it, each with what to do about it. Empty: it is possible. */
  readonly lacks: Readonly<Record<Way, readonly string[]>>;
}

/** kubeadm wants two for a control plane. */
const CPUS = 2;
/** A control plane and two workers; a little less than 3 GiB, because a virtual machine of 3 GiB has less for its programs. */
const MEMORY_BYTES = 2.7 * 2 ** 30;

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const nameOf: Readonly<Record<EngineName, string>> = { docker: 'Docker', podman: 'Podman' };

function labLacks({ platform, uid, osRelease }: Machine): readonly string[] {
  const isDebian = platform === 'linux' && /^ID=debian$/m.test(osRelease) && /^VERSION_ID="12"$/m.test(osRelease);
  const found = /^PRETTY_NAME="?(.*?)"?$/m.exec(osRelease)?.[1] ?? platform;
  return [
    ...(isDebian ? [] : [`Debian 12 (found ${found})`]),
    ...(uid === 0 ? [] : ['root: run the same command with sudo']),
  ];
}

function withRoot(engine: EngineName, platform: NodeJS.Platform): string {
  if (engine === 'docker') return 'Docker that runs as root (found a rootless one): use its root daemon';
  if (platform === 'darwin')
    return 'Podman with root: podman machine stop && podman machine set --rootful && podman machine start';
  return 'Podman with root: run the same command with sudo';
}

function engineLacks(engine: EngineName, { platform, engines }: Machine): readonly string[] {
  if (platform === 'win32') return [`Linux or macOS (found Windows): run the same command in WSL`];
  const name = nameOf[engine];
  const state = engines[engine];
  switch (state.kind) {
    case 'absent':
      return [`${name} (found no program ${engine})`];
    case 'silent':
      return [`${name} that answers: start it, or let this user use it (\`${engine} info\` said: ${state.message})`];
    case 'answers':
      return [
        ...(state.rootless ? [withRoot(engine, platform)] : []),
        ...(state.containers === 'linux' ? [] : [`containers of Linux (${name} runs those of ${state.containers})`]),
        ...(state.cpus >= CPUS ? [] : [`${String(CPUS)} CPUs for ${name} (found ${String(state.cpus)})`]),
        ...(state.memoryBytes >= MEMORY_BYTES ? [] : [`3 GiB of memory for ${name} (found ${gib(state.memoryBytes)})`]),
      ];
  }
}

/** The first way that is possible here. A recording is always possible. */
export function choose(machine: Machine): Choice {
  const lacks = {
    lab: labLacks(machine),
    docker: engineLacks('docker', machine),
    podman: engineLacks('podman', machine),
    recording: [],
  };
  return { way: WAYS.find((way) => lacks[way].length === 0)!, lacks };
}

/** The two ways to a real build, and what each lacks here. Ends with a line break. */
export function waysText({ lacks }: Pick<Choice, 'lacks'>): string {
  const line = (what: string, way: Way): string =>
    `     ${what}: npm run demo -- --with ${way}\n${lacks[way].map((lack) => `       lacks ${lack}\n`).join('')}`;
  return [
    'a real build is had in one of two ways:\n',
    '  1. hosts are containers, on Linux, macOS or WSL\n',
    line('of Docker', 'docker'),
    line('of Podman with root', 'podman'),
    '  2. hosts are in the lab, on Debian 12, as root\n',
    line('of the lab', 'lab'),
  ].join('');
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** What `podman info` says, also where it answers to the name docker. */
function podmanState(host: Readonly<Record<string, unknown>>): EngineState {
  const { security, distribution } = host;
  return {
    kind: 'answers',
    rootless: isObject(security) && security['rootless'] === true,
    containers: textOf(host['os']) || 'linux',
    system: isObject(distribution) ? textOf(distribution['distribution']) : '',
    cpus: numberOf(host['cpus']),
    memoryBytes: numberOf(host['memTotal']),
  };
}

/** Reads the JSON of `docker info` or `podman info`; `said`: what came on stderr. */
export function engineState(json: string, said = ''): EngineState {
  const silent = (message: string): EngineState => ({
    kind: 'silent',
    message: message.trim().split('\n')[0] || 'nothing',
  });
  let info: unknown;
  try {
    info = JSON.parse(json);
  } catch {
    return silent(said || json);
  }
  if (!isObject(info)) return silent(said || json);
  if (isObject(info['host'])) return podmanState(info['host']);
  const errors = info['ServerErrors'];
  if (Array.isArray(errors) && errors.length > 0) return silent(String(errors[0]));
  if (textOf(info['OSType']) === '') return silent(said || 'no server');
  const options = Array.isArray(info['SecurityOptions']) ? info['SecurityOptions'].map(String) : [];
  return {
    kind: 'answers',
    rootless: options.some((option) => option.includes('name=rootless')),
    containers: textOf(info['OSType']),
    system: textOf(info['OperatingSystem']),
    cpus: numberOf(info['NCPU']),
    memoryBytes: numberOf(info['MemTotal']),
  };
}
