import { ScriptFailure } from './script.ts';

/** A file of the machine; paths are looked up without case. */
export interface MachineFile {
  /** As it was written: `C:\k\kubelet.exe`. */
  readonly path: string;
  readonly content: Buffer;
  /** Who may read it: `private` is SYSTEM and administrators. */
  readonly access: 'private' | 'inherited';
  /** When it was written, by the clock of this process. */
  readonly modifiedMs?: number;
  /** Another process has it open and lets no other process read it. */
  readonly isClosed?: boolean;
  /** A program that runs: it can be renamed, and neither overwritten nor removed. */
  readonly isRunning?: boolean;
}

/** Every state of a service, as Get-Service spells it. */
export type ServiceState =
  'Stopped' | 'StartPending' | 'StopPending' | 'Running' | 'ContinuePending' | 'PausePending' | 'Paused';

/** A service as it is registered and as it runs. */
export interface Service {
  readonly name: string;
  path: string;
  state: ServiceState;
  /** What a pending state becomes while a process waits for it; undefined: it stays. */
  becomes?: ServiceState;
  /** Windows removes it as soon as no process has it open: until then it can be neither changed nor made. */
  isMarked?: boolean;
  startMode: 'Auto' | 'Manual' | 'Disabled';
  account: string;
  startedMs: number;
  dependsOn: readonly string[];
  environment: readonly string[];
  restarts: boolean;
  /** Values of its key Parameters (nssm). */
  parameters: Readonly<Record<string, string>>;
}

/** A scheduled task. */
export interface Task {
  readonly name: string;
  state: 'Ready' | 'Running' | 'Queued';
  /** 267011: has not run yet. */
  lastResult: number;
}

/** A firewall rule that lets something in. */
export interface FirewallRule {
  readonly name: string;
  readonly protocol: string;
  readonly ports: readonly string[];
  readonly [more: string]: unknown;
}

/** What HNS made; other fields as it has them. */
export interface HnsObject {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly [more: string]: unknown;
}

/** A process: ended by Stop-Process, by its channel, or by the machine going down. */
export interface Process {
  readonly name: string;
  /** When it started; Windows gives its number to another one after its end. */
  readonly startedMs?: number;
  /** With a status; default that of Stop-Process. */
  readonly end: (status?: number) => void;
}

/** One Windows machine: everything that scripts see and change. Plain data, changed in place. */
export interface Machine {
  readonly name: string;
  build: string;
  /** Update build revision. */
  revision: number;
  caption: string;
  cpus: number;
  memoryMiB: number;
  pageFileMiB: number;
  freeDiskBytes: number;
  administrator: boolean;
  languageMode: 'FullLanguage' | 'ConstrainedLanguage';
  bootTimeMs: number;
  /** Host's clock minus that of this process. */
  clockOffsetMs: number;
  pendingReboot: boolean;
  readonly addresses: readonly string[];
  /** `InstallPending` becomes `Installed` by a restart. */
  readonly features: Map<string, 'Available' | 'InstallPending' | 'Installed'>;
  readonly files: Map<string, MachineFile>;
  readonly folders: Set<string>;
  readonly services: Map<string, Service>;
  readonly tasks: Map<string, Task>;
  readonly firewall: Map<string, FirewallRule>;
  /** Destinations of single routes. */
  readonly routes: Set<string>;
  /** Those that Windows adds at each start. */
  readonly persistentRoutes: Set<string>;
  readonly networks: HnsObject[];
  readonly endpoints: HnsObject[];
  /** Of the machine, as in its registry. */
  readonly environment: Map<string, string>;
  readonly registry: Map<string, unknown>;
  readonly processes: Map<number, Process>;
  /** Locks that are held, by path in lower case. */
  readonly locks: Map<string, { readonly pid: number; readonly holder: string; readonly startedMs?: number }>;
  /** Anything else that some probe shows: Defender, BitLocker, adapters. */
  readonly extra: Map<string, unknown>;
}

const CAPTIONS: Readonly<Record<string, string>> = {
  '17763': 'Microsoft Windows Server 2019 Standard',
  '20348': 'Microsoft Windows Server 2022 Datacenter',
  '26100': 'Microsoft Windows Server 2025 Datacenter',
};

/** A machine as it comes from its installation, with sshd. */
export function freshMachine(name: string, build: string, address: string): Machine {
  const machine: Machine = {
    name,
    build,
    revision: 2700,
    caption: CAPTIONS[build] ?? `Microsoft Windows Server (${build})`,
    cpus: 4,
    memoryMiB: 16_384,
    pageFileMiB: 4096,
    freeDiskBytes: 80 * 1024 ** 3,
    administrator: true,
    languageMode: 'FullLanguage',
    bootTimeMs: Date.now() - 3_600_000,
    clockOffsetMs: 0,
    pendingReboot: false,
    addresses: [address],
    features: new Map([
      ['Containers', 'Available'],
      ['Hyper-V', 'Available'],
      ['Hyper-V-PowerShell', 'Available'],
    ]),
    files: new Map(),
    folders: new Set(),
    services: new Map(),
    tasks: new Map(),
    firewall: new Map(),
    routes: new Set(),
    persistentRoutes: new Set(),
    networks: [],
    endpoints: [],
    environment: new Map([
      [
        'Path',
        String.raw`%SystemRoot%\system32;%SystemRoot%;%SystemRoot%\System32\WindowsPowerShell\v1.0\;%SystemRoot%\System32\OpenSSH\ `.trim(),
      ],
      ['OS', 'Windows_NT'],
    ]),
    registry: new Map(),
    processes: new Map(),
    locks: new Map(),
    extra: new Map(),
  };
  addService(machine, {
    name: 'sshd',
    path: String.raw`C:\Windows\System32\OpenSSH\sshd.exe`,
    state: 'Running',
    startMode: 'Auto',
  });
  return machine;
}

/** Registers a service. */
export function addService(machine: Machine, service: Pick<Service, 'name' | 'path'> & Partial<Service>): Service {
  const whole: Service = {
    state: 'Stopped',
    startMode: 'Auto',
    account: 'LocalSystem',
    startedMs: service.state === 'Running' ? Date.now() - 3_600_000 : 0,
    dependsOn: [],
    environment: [],
    restarts: false,
    parameters: {},
    ...service,
  };
  machine.services.set(service.name.toLowerCase(), whole);
  return whole;
}

const inUse = (path: string): ScriptFailure =>
  new ScriptFailure(`The process cannot access the file '${path}' because it is being used by another process.`);

/** Without a regular expression: `\\+$` begins anew at each backslash, and tests ask for a hundred thousand paths. */
function key(path: string): string {
  let end = path.length;
  while (end > 0 && (path[end - 1] === '\\' || path[end - 1] === '/')) end--;
  return path.slice(0, end).replaceAll('/', '\\').toLowerCase();
}

/** The folder that a path is in. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('\\'));

/** Files by path, as Windows sees them: no case, either slash. */
export const filesOf = (machine: Machine) => ({
  get: (path: string): MachineFile | undefined => machine.files.get(key(path)),
  /** @throws ScriptFailure for a file that another process lets no other process read */
  text: (path: string): string | undefined => {
    const file = machine.files.get(key(path));
    if (file?.isClosed === true) throw inUse(path);
    return file?.content.toString('utf8');
  },
  /** @throws DiskFull, ScriptFailure for a file that another process has open, and for a program that runs */
  put(path: string, content: string | Buffer, access: MachineFile['access'] = 'inherited'): void {
    const bytes = Buffer.from(content);
    const old = machine.files.get(key(path));
    if (old?.isClosed === true || old?.isRunning === true) throw inUse(path);
    const before = old?.content.length ?? 0;
    if (bytes.length - before > machine.freeDiskBytes) throw new DiskFull();
    machine.freeDiskBytes -= bytes.length - before;
    machine.files.set(key(path), { path, content: bytes, access, modifiedMs: Date.now() });
  },
  /** Renames a file to where no program looks: Windows allows it for a program that runs. @throws ScriptFailure */
  putAside(path: string): MachineFile | undefined {
    const file = machine.files.get(key(path));
    if (file?.isClosed === true) throw inUse(path);
    machine.files.delete(key(path));
    return file;
  },
  remove(path: string): void {
    const file = machine.files.get(key(path));
    if (file?.isClosed === true || file?.isRunning === true) throw inUse(path);
    machine.freeDiskBytes += machine.files.get(key(path))?.content.length ?? 0;
    machine.files.delete(key(path));
  },
  /** Every file and folder at or under a path. */
  removeTree(path: string): void {
    const at = key(path);
    const under = (one: string): boolean => one === at || one.startsWith(`${at}\\`);
    for (const one of [...machine.files.keys()]) if (under(one)) this.remove(one);
    for (const one of [...machine.folders]) if (under(one)) machine.folders.delete(one);
  },
  /** Paths of the files under a folder, as they were written. */
  under(path: string): readonly string[] {
    const prefix = `${key(path)}\\`;
    return [...machine.files].filter(([one]) => one.startsWith(prefix)).map(([, file]) => file.path);
  },
  makeFolder: (path: string): void => void machine.folders.add(key(path)),
  exists(path: string): boolean {
    const at = key(path);
    if (machine.files.has(at) || machine.folders.has(at)) return true;
    for (const one of machine.files.keys()) if (one.startsWith(`${at}\\`)) return true;
    return false;
  },
});

/** Nothing more fits on the disk. */
export class DiskFull extends Error {
  constructor() {
    super('There is not enough space on the disk.');
  }
}

/** What must be the same before and after: without what time changes by itself. */
export const leftovers = (machine: Machine): object => ({
  features: [...machine.features].toSorted(),
  files: [...machine.files.values()].map(({ path }) => path).toSorted(),
  services: [...machine.services.keys()].toSorted(),
  tasks: [...machine.tasks.keys()].toSorted(),
  firewall: [...machine.firewall.keys()].toSorted(),
  routes: [...machine.routes, ...machine.persistentRoutes].toSorted(),
  networks: machine.networks.map(({ name }) => name).toSorted(),
  endpoints: machine.endpoints.map(({ name }) => name).toSorted(),
  environment: [...machine.environment].toSorted(),
});
