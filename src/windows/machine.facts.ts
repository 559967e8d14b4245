import * as z from 'zod';
import { type VersionedProgram, watchedMap } from '../shell/watched.ts';
import { powershell } from '../templates.ts';
import { windowsProbe } from './files.facts.ts';

/** A text that every Windows has: an empty one is no answer. */
const text = z.string().min(1);
const optional = z.string();
const count = z.number().int().nonnegative();

const MACHINE = z.object({
  hostname: text,
  caption: text,
  /** `20348` is Server 2022, `26100` Server 2025. */
  build: text,
  revision: count,
  /** 1: a workstation, not a server. */
  productType: count,
  /** `Server Core`, `Server`, `Client`. */
  installation: text,
  edition: text,
  architecture: text,
  manufacturer: optional,
  model: optional,
  cpus: count,
  memoryMiB: count,
  pageFileMiB: count,
  /** How long the host has been up. */
  uptimeMs: z.number(),
  administrator: z.boolean(),
  /** kbuild's scripts work only in `FullLanguage`. */
  languageMode: text,
  powershell: text,
});

/** Windows edition, hardware, and the rights of the account that kbuild uses. */
interface WindowsMachine extends Readonly<Omit<z.output<typeof MACHINE>, 'uptimeMs'>> {
  /**
   * When the host booted, in ms since the epoch, by the clock of the operator's machine. Windows changes its own boot
   * time whenever its clock is set.
   */
  readonly bootedMs: number;
}

export const machine = windowsProbe(
  powershell('windows/probe-machine.ps1'),
  MACHINE,
  ({ uptimeMs, ...answer }, { middleMs }): WindowsMachine => ({ ...answer, bootedMs: middleMs - uptimeMs }),
);

/** The host's time minus the middle of the request, in milliseconds. */
export const clockOffsetMs = windowsProbe(
  powershell('windows/probe-clock.ps1'),
  z.object({ nowMs: z.number() }),
  ({ nowMs }, { middleMs }) => Math.round(nowMs - middleMs),
);

/** Reasons why Windows must restart; empty if it need not. */
export const pendingReboot = windowsProbe(
  powershell('windows/probe-pending-reboot.ps1'),
  z.object({ reasons: z.array(text) }),
  ({ reasons }): readonly string[] => reasons,
);

const VOLUME = z.object({
  freeMiB: count,
  fileSystem: text,
  bitLocker: z
    .enum(['absent', '0', '1', '2'])
    .transform((status) => ({ absent: 'absent', 0: 'off', 1: 'on', 2: 'unknown' })[status]),
});

/** Free space, file system and encryption of the system drive. */
export const volume = windowsProbe(
  powershell('windows/probe-volume.ps1'),
  VOLUME,
  (answer): Readonly<z.output<typeof VOLUME>> => answer,
);

/**
 * Install states of the named Windows features (`Installed`, `Available`, `InstallPending`, `Removed`); `none` if
 * Windows is not a server.
 */
export const features = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-features.ps1', { Names: names }),
    z.object({ available: z.boolean(), features: z.array(z.object({ name: text, state: text })) }),
    (answer): ReadonlyMap<string, string> | 'none' =>
      answer.available
        ? watchedMap(
            names,
            answer.features.map(({ name, state }) => [name, state]),
          )
        : 'none',
  );

const SERVICE = z.object({
  name: text,
  /** `Stopped`, `Start Pending`, `Stop Pending`, `Running`, `Continue Pending`, `Pause Pending`, `Paused`. */
  state: text,
  /** `Auto`, `Manual`, `Disabled`. */
  startMode: text,
  account: text,
  /** The command line. */
  path: text,
  /** Start time of its process, in ms since the epoch; 0 if it has none. */
  startedMs: z.number(),
  dependsOn: z.array(text),
  environment: z.array(text),
  /** True if Windows restarts it after a failure. */
  restarts: z.boolean(),
  parameters: z.array(z.object({ name: text, value: optional })),
});

/** Registration and state of a Windows service. */
export type WindowsService = Readonly<z.output<typeof SERVICE>>;

/** The named services that exist, by name. */
export const services = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-services.ps1', { Names: names }),
    z.object({ services: z.array(SERVICE) }),
    (answer): ReadonlyMap<string, WindowsService> =>
      watchedMap(
        names,
        answer.services.map((service) => [service.name, service]),
      ),
  );

/** Whether a program on the host runs, and its output. A program that does not exist has no state. */
type ProgramState =
  { readonly state: 'works'; readonly said: string } | { readonly state: 'broken'; readonly said: string };

/** Runs each program that exists with its version arguments, and returns its state and output, by name. */
export const programs = (all: readonly VersionedProgram[]) =>
  windowsProbe(
    powershell('windows/probe-programs.ps1', {
      Programs: all.map(({ name, path, arguments: words, exits }) => ({ name, path, arguments: words, exits })),
    }),
    z.object({ programs: z.array(z.object({ name: text, state: z.enum(['works', 'broken']), said: optional })) }),
    (answer): ReadonlyMap<string, ProgramState> =>
      watchedMap(
        all.map(({ name }) => name),
        answer.programs.map(({ name, ...state }): [string, ProgramState] => [name, state]),
      ),
  );

const TASKS = z.object({ running: z.array(text), left: z.array(text) });

/** The scheduled task of a running job; `none` if no job runs. */
export const runningJob = windowsProbe(
  powershell('windows/probe-job.ps1'),
  TASKS,
  ({ running }) => running[0] ?? 'none',
);

/** Scheduled tasks of kbuild that have ended, or never ran: a job removes its own, unless the run was cut off. */
export const leftTasks = windowsProbe(
  powershell('windows/probe-job.ps1'),
  TASKS,
  ({ left }): readonly string[] => left,
);
