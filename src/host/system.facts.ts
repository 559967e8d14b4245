import { CONTAINER_RUNTIMES } from '../runtime/runtimes.value.ts';
import { lines, probeInPlace, wordOf } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { unquoted } from '../shell/text.ts';
import { script } from '../templates.ts';
import { REQUIRED_TOOLS, type RequiredTool } from './packages/distribution.value.ts';

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
export interface SecurityModules {
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
