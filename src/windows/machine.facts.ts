import * as z from 'zod';
import { watchedMap } from '../shell/watched.ts';
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
