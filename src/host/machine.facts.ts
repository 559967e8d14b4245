import { paths } from '../paths.ts';
import { CONTAINER_RUNTIMES } from '../runtime/runtimes.value.ts';
import { clockOf, lineOf, lines, numberOf, probeInPlace, wordOf } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { excerpt, unquoted } from '../shell/text.ts';
import { script, using } from '../templates.ts';
import { textOf } from './files.facts.ts';
import { type OsRelease, REQUIRED_TOOLS, type RequiredTool } from './packages/distribution.value.ts';

/**
 * When the host's lock was last taken or released, as its file's time (s, with nanoseconds). `held`: a process holds
 * it. `never`: not locked since boot. If two observations return the same time, no run held the lock in between.
 */
export const lockUsed = probeInPlace(script('host/probe-lock-used.sh', { LOCK: paths.lock }), lineOf);

/** How long a login takes. */
interface Login {
  /** From the moment at which sshd took the connection until it accepted the login; undefined if that is not known. */
  readonly sshdMs: number | undefined;
  /**
   * From the start of the login shell until it ran a command: what its own files cost; undefined where no sshd was
   * found.
   */
  readonly shellMs: number | undefined;
}

/** The unit of /proc/PID/stat: 100 a second, also where the kernel counts otherwise (proc(5), sysconf(3)). */
const TICK_MS = 10;

/**
 * How long the login took. The login shell is the last process before sshd; it began before its files were read. It
 * must run early: `$batch_now` is when the shell of the probes began it (probe-batch.sh).
 */
export const login = probeInPlace(script('host/probe-login.sh'), (out, { loginMs }): Login => {
  const [now = 0, start = 0] = out
    .trim()
    .split(' ')
    .map((text) => numberOf(text, 'time'));
  const shellMs = Math.round(now * 1000 - start * TICK_MS);
  // Containers may have an uptime of their own beside times of the machine's.
  return {
    sshdMs: loginMs === undefined ? undefined : Math.round(loginMs),
    shellMs: shellMs >= 0 ? shellMs : undefined,
  };
});

function assignments(text: string): ReadonlyMap<string, string> {
  return new Map(
    lines(text).flatMap((line) => {
      const [, key, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, value!.replace(/^(["'])(.*)\1$/, '$2')] as const];
    }),
  );
}

/** The distribution, from /etc/os-release, and whether it was booted from an image of ostree (ostree's own mark). */
export const osRelease = probeInPlace(
  using(
    'host/show-text.sh',
    sh`show_text /etc/os-release; if [ -e /run/ostree-booted ]; then echo KBUILD_OSTREE=booted; fi`,
  ),
  (out): OsRelease => {
    const fields = assignments(out);
    return {
      id: lineOf(fields.get('ID') ?? 'unknown'),
      idLike: lineOf(fields.get('ID_LIKE') ?? '')
        .split(' ')
        .filter((id) => id !== ''),
      versionId: lineOf(fields.get('VERSION_ID') ?? ''),
      codename: lineOf(fields.get('VERSION_CODENAME') ?? ''),
      // It stands in tables and lists, and has any length.
      prettyName: excerpt(fields.get('PRETTY_NAME') ?? 'unknown'),
      ...(fields.get('KBUILD_OSTREE') === 'booted' ? { isOstree: true } : {}),
    };
  },
);

/**
 * The machine hardware name, e.g. `x86_64`; `aarch64-32bit` where a kernel of 64 bits has a userland of 32 bits, as
 * some images for small boards: package managers go by the userland.
 */
export const arch = probeInPlace(
  sh`machine=$(uname -m); case $machine in *64) bits=$(getconf LONG_BIT 2>/dev/null) || : ;; *) bits= ;; esac
     if [ "$bits" = 32 ]; then echo "$machine-32bit"; else echo "$machine"; fi`,
  lineOf,
);

export const kernel = probeInPlace(using('host/show-text.sh', sh`show_text /proc/sys/kernel/osrelease`), lineOf);

export const bootId = probeInPlace(using('host/show-text.sh', sh`show_text /proc/sys/kernel/random/boot_id`), lineOf);

/** /etc/machine-id; `absent` when there is none. */
export const machineId = probeInPlace(
  using('host/show-text.sh', sh`if [ -s /etc/machine-id ]; then show_text /etc/machine-id; else echo absent; fi`),
  lineOf,
);

/** The DMI product UUID in lower case; `absent` on a machine without DMI. Kubernetes' install guide wants it unique. */
export const productUuid = textOf('/sys/class/dmi/id/product_uuid', (text) => {
  const value = lineOf(text).toLowerCase();
  if (value === '') throw new Error('product_uuid is empty');
  return value;
});

/** The host's clock, ms since the epoch. */
export const nowMs = probeInPlace(sh`date +%s%N`, (out) => clockOf(out));

/**
 * The host's time minus kbuild's, in milliseconds; exact to half of what the connection and the probes before this one
 * took.
 */
export const clockOffsetMs = probeInPlace(sh`date +%s.%N`, (out, { middleMs }) => {
  return Math.round(numberOf(out, 'time') * 1000 - middleMs);
});

export const cpus = probeInPlace(
  sh`while read -r name list; do case $name in Cpus_allowed_list:) break ;; esac; done </proc/self/status; count=0; IFS=,
     for range in $list; do count=$((count + \${range#*-} - \${range%-*} + 1)); done; echo $count`,
  (out) => numberOf(out),
);

/** MemTotal in MiB. */
export const memoryMiB = probeInPlace(
  sh`while read -r name value; do case $name in MemTotal:) echo "$name $value"; break ;; esac; done </proc/meminfo`,
  (out) => {
    const kib = /^MemTotal:\s+(\d+) kB$/m.exec(out)?.[1];
    if (kib === undefined) throw new Error('no MemTotal');
    return Math.floor(numberOf(kib) / 1024);
  },
);

/** Name of process 1, e.g. `systemd`. */
export const initSystem = probeInPlace(using('host/show-text.sh', sh`show_text /proc/1/comm`), lineOf);

/** 2 for the unified hierarchy, 1 otherwise (Kubernetes documentation, "About cgroup v2"). */
export const cgroupVersion = probeInPlace(
  sh`if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo cgroup2fs; else echo other; fi`,
  (out): 1 | 2 => (out.trim() === 'cgroup2fs' ? 2 : 1),
);

/** The required programs that the host does not have. */
export const missingTools = probeInPlace(
  sh`for tool in ${REQUIRED_TOOLS}; do if ! command -v "$tool" >/dev/null; then echo "$tool"; fi; done`,
  (out): readonly RequiredTool[] => lines(out).map(wordOf(...REQUIRED_TOOLS)),
);

/** True if the host has cosign, by which it verifies signatures of published programs. */
export const cosign = probeInPlace(
  sh`if command -v cosign >/dev/null; then echo there; else echo absent; fi`,
  (out) => wordOf('there', 'absent')(out) === 'there',
);

/** Security modules of the kernel. */
interface SecurityModules {
  readonly selinux: 'enforcing' | 'permissive' | 'absent';
  /** `toolless`: the kernel has it, and the parser that loads profiles is missing. */
  readonly apparmor: 'on' | 'toolless' | 'absent';
}

/** SELinux' and AppArmor's state. */
export const securityModules = probeInPlace(script('host/probe-security-modules.sh'), (out): SecurityModules => ({
  selinux: /^selinux 1/m.test(out) ? 'enforcing' : /^selinux 0/m.test(out) ? 'permissive' : 'absent',
  apparmor: /^apparmor on/m.test(out) ? 'on' : /^apparmor toolless/m.test(out) ? 'toolless' : 'absent',
}));

/** Proxy variables that the host has of its own, from /etc/environment and systemd: lower-case name → value. */
export const proxyVariables = probeInPlace(
  script('host/probe-proxy-variables.sh'),
  (out): ReadonlyMap<string, string> =>
    new Map(
      lines(out).flatMap((line) => {
        const [, name, value] = /^\s*(?:export +)?(\w+)=(.*)/.exec(line) ?? [];
        return name === undefined ? [] : [[name.toLowerCase(), unquoted(value!)] as const];
      }),
    ),
);

/** Configurations in /etc/cni/net.d in the order in which the container runtime reads them: it uses the first. */
export const cniConfigurations = probeInPlace(
  sh`for file in /etc/cni/net.d/*; do if [ -f "$file" ]; then echo "\${file##*/}"; fi; done`,
  (out) =>
    lines(out)
      .filter((name) => /[.](?:conf|conflist|json)$/.test(name))
      .toSorted(),
);

/**
 * The kernel's VXLAN: built in or loaded, there to be loaded, or missing. It has parameters, so it shows when built in.
 */
export const vxlan = probeInPlace(
  sh`if [ -e /sys/module/vxlan ]; then echo working; elif modprobe -n -q vxlan 2>/dev/null; then echo loadable; else echo missing; fi`,
  wordOf('working', 'loadable', 'missing'),
);

/** cgroup controllers that are switched on, of either version. */
export const cgroupControllers = probeInPlace(
  sh`if [ -e /sys/fs/cgroup/cgroup.controllers ]; then read -r names </sys/fs/cgroup/cgroup.controllers; echo "$names"
     else while read -r name _ _ on; do if [ "$on" = 1 ]; then echo "$name"; fi; done </proc/cgroups; fi`,
  (out): ReadonlySet<string> => new Set(out.trim().split(/\s+/)),
);

const SOCKETS = CONTAINER_RUNTIMES.map(({ socket }) => socket);

/** CRI sockets on the host. kubeadm refuses to guess between two, so kbuild always names one. */
export const criSockets = probeInPlace(
  sh`for socket in ${SOCKETS}; do if [ -S "$socket" ]; then echo "$socket"; fi; done`,
  (out) => lines(out),
);

/** The state of cloud-init, which may reboot a host or lock its packages. `absent` also where it is switched off. */
export const cloudInit = probeInPlace(
  script('host/probe-cloud-init.sh'),
  wordOf('absent', 'running', 'done', 'failed'),
);
