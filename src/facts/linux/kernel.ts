import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { lines, probe } from '../../shell/probe.ts';

/** What a module is to a host: working (loaded or built in), there to be loaded, or missing. */
export type ModuleState = 'working' | 'loadable' | 'missing';

/**
 * The modules that Kubernetes needs, judged by what they provide, because lsmod does not list modules that are built in:
 * overlay by /proc/filesystems, br_netfilter by its sysctls.
 */
export const modules = probe(script('linux/probe-modules.sh'), (out) => {
  const states = new Map(lines(out).map((line) => line.split(' ') as [string, ModuleState]));
  const overlay = states.get('overlay');
  const brNetfilter = states.get('br_netfilter');
  if (overlay === undefined || brNetfilter === undefined) throw new Error(`unexpected output: ${out}`);
  return { overlay, br_netfilter: brNetfilter };
});

/** The kernel settings that kbuild owns, and what each must be. */
export const REQUIRED_SYSCTLS = {
  'net.bridge.bridge-nf-call-iptables': '1',
  'net.bridge.bridge-nf-call-ip6tables': '1',
  'net.ipv4.ip_forward': '1',
} as const;

export type SysctlName = keyof typeof REQUIRED_SYSCTLS;

/** Effective values; `absent` where the kernel has no such setting (yet). */
export const sysctls = probe(
  script('linux/probe-sysctls.sh', {
    SYSCTLS: Object.keys(REQUIRED_SYSCTLS).map((name) => `${name} /proc/sys/${name.replaceAll('.', '/')}`),
  }),
  (out) => Object.fromEntries(lines(out).map((line) => line.split(' '))) as Readonly<Record<SysctlName, string>>,
);

/**
 * Lines of configuration files that set one of our sysctls. At boot the last file name wins, whatever
 * its folder (sysctl.d(5)). /etc/sysctl.conf counts where /etc/sysctl.d has a link to it.
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
