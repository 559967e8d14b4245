import { paths } from '../paths.ts';
import { lineOf, lines, probe, unexpected } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { watchedMap } from '../shell/watched.ts';
import { script } from '../templates.ts';

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

/** The state of the given units. */
export const services = (units: readonly string[]) =>
  probe(script('host/probe-services.sh', { UNITS: units }), (out): ReadonlyMap<string, ServiceState> => {
    const states = new Map<string, ServiceState>();
    for (const block of out.split(/^(?=Unit=)/m)) {
      const fields = new Map(
        lines(block).map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      const unit = fields.get('Unit');
      if (unit === undefined) continue;
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

/**
 * What services loaded when they were last reloaded, since the boot: unit → hash of the files' hashes. A reload does
 * not move the time at which a service started.
 */
export const applied = probe(
  sh`for file in ${paths.applied}/*; do if [ -e "$file" ]; then echo "$(basename "$file") $(cat "$file")"; fi; done`,
  (out): ReadonlyMap<string, string> =>
    new Map(
      lines(out).map((line) => {
        const [unit, hash, ...more] = line.trim().split(' ');
        if (unit === undefined || hash === undefined || more.length > 0) throw unexpected(line);
        return [unit, hash] as const;
      }),
    ),
);
