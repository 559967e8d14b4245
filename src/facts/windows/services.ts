import { z } from 'zod';
import { powershell } from '../../templates.ts';
import { watchedMap, type VersionedProgram } from '../watched.ts';
import { windowsProbe } from './windows-probe.ts';

const text = z.string();

const SERVICE = z.object({
  name: text,
  /** `Running`, `Stopped`, `Start Pending` and the like. */
  state: text,
  /** `Auto`, `Manual`, `Disabled`. */
  startMode: text,
  account: text,
  /** The command line. */
  path: text,
  /** Start of its process, in ms since the epoch; 0 when it has none. */
  startedMs: z.number(),
  dependsOn: z.array(text),
  environment: z.array(text),
  /** True when Windows starts it again after a failure. */
  restarts: z.boolean(),
  parameters: z.array(z.object({ name: text, value: text })),
});

/** A service as it is registered, and as it runs. */
export type WindowsService = Readonly<z.output<typeof SERVICE>>;

/** Those of the named services that are there, by name. */
export const services = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-services.ps1', { Names: names }),
    z.object({ services: z.array(SERVICE) }),
    (said): ReadonlyMap<string, WindowsService> =>
      watchedMap(
        names,
        said.services.map((one) => [one.name, one]),
      ),
  );

/** What a program is on the host: missing in the facts when it is not there. */
export type ProgramState =
  { readonly state: 'works'; readonly said: string } | { readonly state: 'broken'; readonly said: string };

/** What those of the programs that are there say when they are asked for their version. */
export const programs = (all: readonly VersionedProgram[]) =>
  windowsProbe(
    powershell('windows/probe-programs.ps1', {
      Programs: all.map(({ name, path, arguments: words, exits }) => ({ name, path, arguments: words, exits })),
    }),
    z.object({ programs: z.array(z.object({ name: text, state: z.enum(['works', 'broken']), said: text })) }),
    (said): ReadonlyMap<string, ProgramState> =>
      watchedMap(
        all.map(({ name }) => name),
        said.programs.map(({ name, ...state }): [string, ProgramState] => [name, state]),
      ),
  );

/** The task of a job that runs; `none`. */
export const runningJob = windowsProbe(
  powershell('windows/probe-job.ps1'),
  z.object({ running: z.array(text) }),
  ({ running }) => running[0] ?? 'none',
);
