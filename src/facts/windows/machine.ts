import { z } from 'zod';
import { powershell } from '../../templates.ts';
import { watchedMap } from '../watched.ts';
import { windowsProbe } from './windows-probe.ts';

const text = z.string();
const count = z.number().int().nonnegative();

const MACHINE = z.object({
  hostname: text,
  caption: text,
  /** `20348` is Server 2022, `26100` Server 2025. */
  build: text,
  revision: count,
  /** 1: no server. */
  productType: count,
  /** `Server Core`, `Server`, `Client`. */
  installation: text,
  edition: text,
  architecture: text,
  manufacturer: text,
  model: text,
  cpus: count,
  memoryMiB: count,
  pageFileMiB: count,
  /** A file time: changes with every boot. */
  bootTime: text,
  administrator: z.boolean(),
  /** `FullLanguage`, or a language in which kbuild's scripts do not work. */
  languageMode: text,
  powershell: text,
});

/** What a Windows machine is, and who we are on it. */
export type WindowsMachine = Readonly<z.output<typeof MACHINE>>;

export const machine = windowsProbe(powershell('windows/probe-machine.ps1'), MACHINE, (said): WindowsMachine => said);

/** The host's time minus the middle of the request, in milliseconds. */
export const clockOffsetMs = windowsProbe(
  powershell('windows/probe-clock.ps1'),
  z.object({ nowMs: z.number() }),
  ({ nowMs }, { middleMs }) => Math.round(nowMs - middleMs),
);

/** Why Windows wants to be restarted. */
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

/** The system drive. */
export const volume = windowsProbe(
  powershell('windows/probe-volume.ps1'),
  VOLUME,
  (said): Readonly<z.output<typeof VOLUME>> => said,
);

/** Install states of the named Windows features (`Installed`, `Available`, `InstallPending`, `Removed`); `none` on a Windows that is no server. */
export const features = (names: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-features.ps1', { Names: names }),
    z.object({ available: z.boolean(), features: z.array(z.object({ name: text, state: text })) }),
    (said): ReadonlyMap<string, string> | 'none' =>
      said.available
        ? watchedMap(
            names,
            said.features.map(({ name, state }) => [name, state]),
          )
        : 'none',
  );
