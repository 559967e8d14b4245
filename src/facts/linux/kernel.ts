import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** What a module is to a host: working (loaded or built in), there to be loaded, or missing. */
export type ModuleState = 'working' | 'loadable' | 'missing';

/**
 * The modules that Kubernetes needs, judged by what they provide (a kernel may have them built in, and lsmod does not
 * say so): overlay by /proc/filesystems, br_netfilter by its sysctls.
 */
export const modules = probe(
  sh`m() { if modprobe -n -q "$1" 2>/dev/null; then echo "$1 loadable"; else echo "$1 missing"; fi; }
     if grep -qw overlay /proc/filesystems; then echo overlay working; else m overlay; fi
     if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then echo br_netfilter working; else m br_netfilter; fi`,
  (out) => {
    const states = new Map(lines(out).map((line) => line.split(' ') as [string, ModuleState]));
    const overlay = states.get('overlay');
    const brNetfilter = states.get('br_netfilter');
    if (overlay === undefined || brNetfilter === undefined) throw new Error(`unexpected output: ${out}`);
    return { overlay, br_netfilter: brNetfilter };
  },
);

/** The kernel settings that kbuild owns, and what each must be. */
export const REQUIRED_SYSCTLS = {
  'net.bridge.bridge-nf-call-iptables': '1',
  'net.bridge.bridge-nf-call-ip6tables': '1',
  'net.ipv4.ip_forward': '1',
} as const;

export type SysctlName = keyof typeof REQUIRED_SYSCTLS;

/** Effective values; `absent` where the kernel has no such setting (yet). */
export const sysctls = probe(
  sh`set -- ${Object.keys(REQUIRED_SYSCTLS).flatMap((name) => [name, `/proc/sys/${name.replaceAll('.', '/')}`])}
     while [ $# -gt 0 ]; do
       if [ -e "$2" ]; then echo "$1 $(cat "$2")"; else echo "$1 absent"; fi
       shift 2
     done`,
  (out) => Object.fromEntries(lines(out).map((line) => line.split(' '))) as Readonly<Record<SysctlName, string>>,
);

/**
 * Lines of configuration files that set one of our sysctls. Which one wins at boot is decided by file name, whatever
 * the folder (sysctl.d(5)); /etc/sysctl.conf counts where /etc/sysctl.d has a link to it.
 */
export const sysctlSettings = probe(
  sh`grep -Hs ${Object.keys(REQUIRED_SYSCTLS).flatMap((name) => ['-e', name])} /etc/sysctl.d/*.conf /run/sysctl.d/*.conf /usr/local/lib/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf || true`,
  (out) =>
    lines(out).flatMap((line) => {
      const [, file, written, value] = /^([^:]+):\s*-?([\w./-]+)\s*=\s*(\S+)/.exec(line) ?? [];
      const name = written?.replaceAll('/', '.') as SysctlName;
      return file === undefined || !(name in REQUIRED_SYSCTLS) ? [] : [{ file, name, value: value! }];
    }),
);
