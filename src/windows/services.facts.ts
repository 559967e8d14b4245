import * as z from 'zod';
import { type VersionedProgram, watchedMap } from '../shell/watched.ts';
import { powershell } from '../templates.ts';
import { windowsProbe } from './files.facts.ts';

const text = z.string().min(1);
const optional = z.string();

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
