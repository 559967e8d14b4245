import { paths } from '../paths.ts';
import { onceForEach } from '../shell/memo.ts';
import { lineOf, lines, probeInPlace, unexpected } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { watchedMap } from '../shell/watched.ts';
import { script, using } from '../templates.ts';

/** One systemd unit. */
export interface ServiceState {
  /** `not-found` when there is no such unit. */
  readonly load: string;
  /** `active`, `activating`, `inactive`, `failed` … */
  readonly active: string;
  /** `enabled`, `disabled`, `static`, `masked` …; empty for an unknown unit. */
  readonly enabled: string;
  /** When its main process started, in ms since the epoch by the host's clock; 0 when it never did. */
  readonly startedMs: number;
  /** True when a unit file changed after systemd read it. */
  readonly needsDaemonReload: boolean;
}

/** True if a unit runs, or starts at the next boot. */
export const isSwitchedOn = (state: ServiceState | undefined): boolean =>
  state?.active === 'active' || state?.enabled === 'enabled';

/** Services that keep a clock right. */
const TIME_SERVICES = [
  ...['chrony', 'chronyd', 'ntp', 'ntpd', 'ntpsec', 'openntpd'],
  ...['systemd-timesyncd', 'vmtoolsd', 'qemu-guest-agent'],
] as const;

/** One question for all facts about units: `units`, and those that kbuild always reads. */
const unitStates = onceForEach((units: readonly string[]) =>
  script('host/probe-services.sh', { UNITS: [...new Set([...units, ...TIME_SERVICES])] }),
);

/** The fields of each unit, by its name, in what probe-services.sh prints. Throws if a unit has none. */
function unitFields(out: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const units = lines(out).flatMap((line) => /^Unit=(.*)/.exec(line)?.[1] ?? []);
  const blocks = out
    .replaceAll(/^Unit=.*\n/gm, '')
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '');
  if (blocks.length !== units.length)
    throw new Error(`systemctl showed ${String(blocks.length)} of ${String(units.length)} units`);
  const fieldsOf = (block: string) =>
    new Map(lines(block).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const));
  return new Map(units.map((unit, i) => [unit, fieldsOf(blocks[i]!)]));
}

/** The state of the given units. */
export const services = (units: readonly string[]) => {
  const known = new Set(units);
  return probeInPlace(unitStates(units), (out): ReadonlyMap<string, ServiceState> => {
    const states = new Map<string, ServiceState>();
    for (const [unit, fields] of unitFields(out)) {
      if (!known.has(unit)) continue;
      const started = fields.get('ExecMainStartTimestamp') ?? '';
      const [, date, time] = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d+) UTC/.exec(started) ?? [];
      states.set(unit, {
        load: lineOf(fields.get('LoadState') ?? 'unknown'),
        active: lineOf(fields.get('ActiveState') ?? 'unknown'),
        enabled: lineOf(fields.get('UnitFileState') ?? ''),
        startedMs:
          date === undefined ? 0 : Date.parse(`${date}T${time!.slice(0, 12)}Z`) + Number(`0.${time!.slice(12)}`),
        needsDaemonReload: fields.get('NeedDaemonReload') === 'yes',
      });
    }
    return watchedMap(units, states);
  });
};

/** Services that keep the clock right and that run. */
export const timeServices = (units: readonly string[]) =>
  probeInPlace(unitStates(units), (out): readonly string[] => {
    const fields = unitFields(out);
    return TIME_SERVICES.filter(
      (unit) => unit !== 'qemu-guest-agent' && fields.get(unit)?.get('ActiveState') === 'active',
    );
  });

/**
 * What services loaded when they were last reloaded, since the boot: unit → hash of the files' hashes. A reload does
 * not move the time at which a service started.
 */
export const applied = probeInPlace(
  using(
    'host/show-text.sh',
    sh`for file in ${paths.applied}/*; do if [ -e "$file" ]; then printf '%s ' "\${file##*/}"; show_text "$file"; fi; done`,
  ),
  (out): ReadonlyMap<string, string> =>
    new Map(
      lines(out).map((line) => {
        const [unit, hash, ...more] = line.trim().split(' ');
        if (unit === undefined || hash === undefined || more.length > 0) throw unexpected(line);
        return [unit, hash] as const;
      }),
    ),
);
