import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { lines, probeInPlace, unexpected, wordOf } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { excerpt } from '../shell/text.ts';
import { script } from '../templates.ts';
import { sysctlFile, sysctlsOf } from './kernel.value.ts';

/** The state of a module: working (loaded or built in), there to be loaded, or missing. */
const moduleState = wordOf('working', 'loadable', 'missing');

/**
 * The modules that Kubernetes needs, by the features that they provide: lsmod does not list modules that are built
 * in: overlay by /proc/filesystems, br_netfilter and nf_conntrack by their sysctls.
 */
export const modules = probeInPlace(script('host/probe-modules.sh'), (out) => {
  const states = new Map(
    lines(out).map((line) => {
      const [name = '', state] = line.split(' ');
      return [name, moduleState(state)] as const;
    }),
  );
  const overlay = states.get('overlay');
  const brNetfilter = states.get('br_netfilter');
  const nfConntrack = states.get('nf_conntrack');
  if (overlay === undefined || brNetfilter === undefined || nfConntrack === undefined) throw unexpected(out);
  return { overlay, br_netfilter: brNetfilter, nf_conntrack: nfConntrack };
});

/** What network plugins need of the running kernel: its types, and the file system of BPF, mounted or not. */
export const kernelFeatures = probeInPlace(
  sh`if [ -r /sys/kernel/btf/vmlinux ]; then echo btf; fi; if grep -qw bpf$ /proc/filesystems; then echo bpffs; fi`,
  (out): ReadonlySet<string> => new Set(lines(out)),
);

/** A value of a kernel setting as it is compared: the kernel separates numbers by tabs. */
const plainValue = (value: string): string => value.trim().replaceAll(/\s+/g, ' ');

/**
 * Effective values of the kernel settings of a host. `absent` where the kernel has no such setting (yet), `unreadable`
 * where it has one without a value.
 */
export const sysctls = (host: LinuxHost) => {
  const names = sysctlsOf(host).map(([name]) => name);
  return probeInPlace(
    script('host/probe-sysctls.sh', { SYSCTLS: names.map((name) => `${name} ${sysctlFile(name)}`) }),
    (out): Readonly<Record<string, string>> => {
      const values = lines(out).map((line) => {
        const [name = '', ...value] = line.split(' ');
        return [name, plainValue(value.join(' '))] as const;
      });
      const missing = names.find((name) => !values.some(([read]) => read === name));
      if (missing !== undefined) throw new Error(`${missing} was not read: ${excerpt(out)}`);
      return Object.fromEntries(values);
    },
  );
};

/** A name as kbuild writes it: with dots between its parts (sysctl.d(5)). */
const withDots = (name: string): string =>
  /[./]/.exec(name)?.[0] === '/' ? name.replaceAll(/[./]/g, (separator) => (separator === '.' ? '/' : '.')) : name;

/**
 * Lines of configuration files that set one of the host's kernel settings, and all lines of kbuild's own file. At boot
 * the last file name wins, in any folder (sysctl.d(5)). /etc/sysctl.conf counts where /etc/sysctl.d has a link to
 * it.
 */
export const sysctlSettings = (host: LinuxHost) => {
  const names = new Set(sysctlsOf(host).map(([name]) => name));
  return probeInPlace(
    sh`grep -Hs '^[^#;]*=' /etc/sysctl.d/*.conf /run/sysctl.d/*.conf /usr/local/lib/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf || true`,
    (out) =>
      lines(out).flatMap((line) => {
        const [, file, written = '', value] = /^([^:]+):\s*-?([\w./-]+)\s*=\s*(\S.*)/.exec(line) ?? [];
        const name = withDots(written);
        return file === undefined || (!names.has(name) && file !== paths.sysctl)
          ? []
          : [{ file, name, value: plainValue(value!) }];
      }),
  );
};

/** A kernel setting that tuned writes after systemd has written those of /etc/sysctl.d. */
interface TunedSetting {
  /** Where it stands: a profile of tuned, or /etc/sysctl.conf. */
  readonly file: string;
  /** With dots between its parts. */
  readonly name: string;
  /** Its value; `>VALUE` and `<VALUE` are limits that tuned raises or lowers it to; `${…}` is known to tuned alone. */
  readonly value: string;
}

/**
 * Kernel settings that win over all of /etc/sysctl.d where the service tuned runs, by what its files say; the last of a
 * name counts. It starts after systemd-sysctl.service, and again with every change of its profile
 * (tuned/plugins/plugin_sysctl.py).
 */
export const tunedSettings = probeInPlace(
  script('host/probe-tuned.sh', { ROOT: '' }),
  (out): readonly TunedSetting[] => [
    ...new Map(
      lines(out).flatMap((line) => {
        const [, file, written, value] = /^(\S+) (\w[\w-]*[./][\w./-]*) (\S.*)$/.exec(line) ?? [];
        if (file === undefined) return [];
        const name = withDots(written!);
        return [[name, { file, name, value: plainValue(value!) }] as const];
      }),
    ).values(),
  ],
);
