import { isSwitchedOn } from '../facts/linux/services.ts';
import { REQUIRED_SYSCTLS, sysctlsOf } from '../topology/sysctls.ts';
import { eachHost } from './each-host.ts';

/** True if tuned may leave a kernel setting at another value than this one. */
function undoes(written: string, wanted: string): boolean {
  const limit = /^[<>](\d+)$/.exec(written)?.[1];
  // Only a value beyond the limit is changed.
  if (limit !== undefined && /^\d+$/.test(wanted))
    return written.startsWith('>') ? Number(wanted) < Number(limit) : Number(wanted) > Number(limit);
  return written !== wanted;
}

export const tuned = eachHost(
  {
    name: 'tuned',
    title: 'tuned leaves the kernel settings of kbuild alone',
    why: "tuned, which many systems run from the beginning, writes kernel settings after the files of `/etc/sysctl.d`, at every boot. By default it then writes these files again, and last of all `/etc/sysctl.conf`: a line there wins over kbuild's file. With `reapply_sysctl = 0` in `/etc/tuned/tuned-main.conf` its profile wins. A setting that Services need is an error, one of the inventory's `sysctls` a warning.",
    severities: ['error', 'warning'],
    watches: { units: ['tuned'] },
  },
  ({ facts, host }) => {
    if (!isSwitchedOn(facts.services.get('tuned'))) return [];
    const wanted = new Map(sysctlsOf(host));
    return facts.tunedSettings
      .filter(({ name, value }) => wanted.has(name) && undoes(value, wanted.get(name)!))
      .map(({ file, name, value }) => ({
        severity: name in REQUIRED_SYSCTLS ? ('error' as const) : ('warning' as const),
        message: `tuned sets ${name}=${value} after kbuild's file, by ${file} (wanted ${wanted.get(name)!})`,
        remedy:
          file === '/etc/sysctl.conf'
            ? `take the line out of ${file}`
            : 'set reapply_sysctl = 1 in /etc/tuned/tuned-main.conf, then systemctl restart tuned; or choose another profile: tuned-adm profile NAME',
      }));
  },
);
