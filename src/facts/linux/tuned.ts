import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { plainValue, withDots } from './kernel.ts';

/** A kernel setting that tuned writes after systemd has written those of /etc/sysctl.d. */
export interface TunedSetting {
  /** Where it stands: a profile of tuned, or /etc/sysctl.conf. */
  readonly file: string;
  /** With dots between its parts. */
  readonly name: string;
  /** Its value; `>VALUE` and `<VALUE` are limits that tuned raises or lowers it to; `${…}` is known to tuned alone. */
  readonly value: string;
}

/**
 * Kernel settings that win over all of /etc/sysctl.d where the service tuned runs, by what its files say; the last of a name counts.
 * It starts after systemd-sysctl.service, and again with every change of its profile (tuned/plugins/plugin_sysctl.py).
 */
export const tunedSettings = probe(script('linux/probe-tuned.sh', { ROOT: '' }), (out): readonly TunedSetting[] => [
  ...new Map(
    lines(out).flatMap((line) => {
      const [, file, written, value] = /^(\S+) (\w[\w-]*[./][\w./-]*) (\S.*)$/.exec(line) ?? [];
      if (file === undefined) return [];
      const name = withDots(written!);
      return [[name, { file, name, value: plainValue(value!) }] as const];
    }),
  ).values(),
]);
