/** The real programs of one simulated Windows host: a machine of wine with the model's files, the runtime, and the kubelet's service. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import type { Machine } from '../host/machine.ts';
import { shareFiles } from './files.ts';
import { makeWine, type Wine, type WineProcess, type WineResult, type WineRun } from './wine.ts';

/** Where real programs are on this machine. */
export interface RealPrograms {
  /** Prefix of wine to copy. */
  readonly prefix: string;
  /** Files by the name that a program has on Windows. */
  readonly programs: ReadonlyMap<string, string>;
}

/** One program that was run. */
export interface Ran extends WineResult {
  readonly line: string;
  readonly seconds: number;
}

/** The real programs of one host. */
export interface RealHost {
  readonly wine: Wine;
  /** Whether the drive has a real program there. */
  readonly has: (path: string) => boolean;
  /** Runs a program with the model's files; what it changed the model has afterwards. */
  readonly run: (exe: string, args: readonly string[], how: WineRun) => Promise<Ran>;
  /** Runs what needs the container runtime, where the model's service containerd runs. */
  readonly withRuntime: <T>(run: () => Promise<T>) => Promise<T>;
  /** … and a service kubelet that it may start and stop. */
  readonly withServices: <T>(run: () => Promise<T>) => Promise<T>;
  /** Everything that was run, in order. */
  readonly ran: readonly Ran[];
  readonly close: () => Promise<void>;
}

const PIPE = 'npipe:////./pipe/containerd-containerd';
const CRICTL = 'C:\\k\\crictl.exe';
const SC = 'C:\\windows\\system32\\sc.exe';
/** A program starts within a second here, on a machine that does much else. */
const START_MS = 60_000;
/** crictl gives up after 2 s, unless it waits for a pipe without a server. */
const ANSWER_MS = 6_000;

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

/** The program and the flags that the service of the kubelet runs, whatever stands between. */
export function kubeletCommand(machine: Machine): { readonly exe: string; readonly flags: readonly string[] } {
  const service = machine.services.get('kubelet');
  const line = [
    service?.path ?? '',
    service?.parameters['Application'] ?? '',
    service?.parameters['AppParameters'] ?? '',
  ]
    .join(' ')
    .split(' ');
  const at = line.findIndex((word) => /\\kubelet\.exe$/i.test(word));
  if (at === -1) throw new TypeError('the service kubelet runs no kubelet.exe');
  return {
    exe: line[at]!,
    flags: line.slice(at + 1).filter((flag) => flag.startsWith('--') && flag !== '--windows-service'),
  };
}

/** containerd, when it answers. It runs as a program: under wine it takes itself for one that a user started. */
async function startContainerd(wine: Wine, machine: Machine): Promise<WineProcess | undefined> {
  const service = machine.services.get('containerd');
  if (service?.state !== 'Running') return undefined;
  const [exe, ...args] = wordsOf(service.path).filter((word) => word !== '--run-service');
  const process = wine.start(exe!, args);
  const until = Date.now() + START_MS;
  for (;;) {
    // The first client meets an instance of the pipe without a server: wine opens it, Windows would not (go-winio, pipe.go).
    const version = ['--runtime-endpoint', PIPE, '--timeout', '2s', 'version'];
    const { status, stderr } = await wine.run(CRICTL, version, { deadlineMs: ANSWER_MS });
    if (status === 0) return process;
    if (!process.hasEnded() && Date.now() < until) continue;
    await process.stop();
    throw new Error(`containerd does not answer: ${stderr}\n${process.printed()}`);
  }
}

/** healthzPort of kubeadm's KubeletConfiguration. */
const HEALTH_PORT = 10248;
const PKI = 'C:\\var\\lib\\kubelet\\pki';

/**
 * The link to the kubelet's newest certificate: CreateSymbolicLink of wine 8 says success and makes none, so the kubelet
 * cannot rename it. Windows makes it, for LocalSystem.
 */
function linkCertificate(wine: Wine): boolean {
  const folder = wine.onDisk(PKI);
  const current = join(folder, 'kubelet-client-current.pem');
  if (existsSync(current)) return true;
  if (!existsSync(folder)) return false;
  const newest = readdirSync(folder)
    .filter((name) => /^kubelet-client-\d.*\.pem$/.test(name))
    .toSorted()
    .at(-1);
  if (newest !== undefined) symlinkSync(newest, current);
  return newest !== undefined;
}

/**
 * The kubelet's health, as the model has it: without Unix sockets, which wine 8 lacks, the kubelet ends a moment after it has
 * started, and kubeadm asks twice a second. Undefined while the kubelet itself listens there.
 */
async function healthy(): Promise<Server | undefined> {
  const server = createServer((_, response) => response.end('ok'));
  const listens = once(server.listen(HEALTH_PORT, '127.0.0.1'), 'listening');
  return listens.then(
    () => server,
    () => undefined,
  );
}

/** When kubeadm wrote the kubelet's configuration, in ms; 0 while there is none. It starts the kubelet right after. */
const configuredAt = (wine: Wine): number =>
  statSync(wine.onDisk('C:\\var\\lib\\kubelet\\config.yaml'), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether a program runs under wine. Only such a command line begins with a Windows path, and one host at a time has programs. */
const runs = (exe: string): boolean =>
  readdirSync('/proc').some((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').startsWith(exe);
    } catch {
      return false; // It has ended meanwhile.
    }
  });

/**
 * The service kubelet in wine's service manager. What Windows does when it fails, this does: it is started again. Wine may call a
 * service running whose program has ended, so the process tells; and kubeadm's file that it was started at all.
 */
async function registerKubelet(wine: Wine, machine: Machine): Promise<{ readonly remove: () => Promise<void> }> {
  const before = configuredAt(wine);
  const sc = (...args: readonly string[]): Promise<WineResult> => wine.run(SC, args, { deadlineMs: START_MS });
  const { exe, flags } = kubeletCommand(machine);
  await sc('create', 'kubelet', 'binPath=', [exe, '--windows-service', ...flags].join(' '));
  const watch: { goesOn: boolean; health?: Server | undefined } = { goesOn: true };
  const watched = (async () => {
    while (watch.goesOn) {
      if (linkCertificate(wine)) watch.health ??= await healthy();
      if (configuredAt(wine) !== before && !runs(exe)) await sc('start', 'kubelet');
      await new Promise((done) => setTimeout(done, 500));
    }
  })();
  return {
    async remove() {
      watch.goesOn = false;
      await watched;
      watch.health?.close();
      watch.health?.closeAllConnections();
      await sc('stop', 'kubelet');
      await sc('delete', 'kubelet');
    },
  };
}

/** Makes them for a machine. */
export function realHost(machine: Machine, { prefix, programs }: RealPrograms): RealHost {
  const wine = makeWine(prefix);
  const files = shareFiles(machine, wine, programs);
  const ran: Ran[] = [];
  return {
    wine,
    ran,
    async run(exe, args, how) {
      files.toDrive();
      const started = performance.now();
      const ended = await wine.run(exe, args, how);
      const result = { ...ended, line: [exe, ...args].join(' '), seconds: (performance.now() - started) / 1000 };
      files.toModel();
      ran.push(result);
      return result;
    },
    has: files.isReal,
    async withRuntime(during) {
      files.toDrive();
      const containerd = await startContainerd(wine, machine);
      try {
        return await during();
      } finally {
        await containerd?.stop();
        files.toModel();
      }
    },
    withServices(during) {
      return this.withRuntime(async () => {
        const kubelet = await registerKubelet(wine, machine);
        try {
          return await during();
        } finally {
          await kubelet.remove();
        }
      });
    },
    close: () => wine.close(),
  };
}
