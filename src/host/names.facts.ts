import type { Host } from '../inventory/inventory.ts';
import { lineOf, lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** First and last line of kbuild's part of /etc/hosts. */
export const HOSTS_BEGIN = '# BEGIN kbuild';
export const HOSTS_END = '# END kbuild';

/** The node name as the kernel has it. */
export const hostname = probeInPlace(using('host/show-text.sh', sh`show_text /proc/sys/kernel/hostname`), lineOf);

/** The name that the host takes at boot; empty without /etc/hostname. */
export const staticHostname = probeInPlace(
  using('host/show-text.sh', sh`if [ -e /etc/hostname ]; then show_text /etc/hostname; fi`),
  (out) =>
    out
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('')
      .trim(),
);

/** The lines of /etc/hosts between kbuild's two marks; `absent` when they are not there. */
export const hostsBlock = probeInPlace(
  using('host/show-text.sh', sh`if [ -e /etc/hosts ]; then show_text /etc/hosts; fi`),
  (out) => {
    const text = out.split('\n');
    const begin = text.indexOf(HOSTS_BEGIN);
    const end = text.indexOf(HOSTS_END, begin);
    return begin === -1 || end === -1 ? 'absent' : text.slice(begin + 1, end).join('\n');
  },
);

/** The nameservers of a host. */
interface Resolver {
  /** Of /etc/resolv.conf. */
  readonly nameservers: readonly string[];
  /** Those that systemd-resolved forwards to; `absent` if it does not run. */
  readonly upstream: readonly string[] | 'absent';
  /**
   * Those of the file that `kubelet.config.resolvConf` names; `missing`: the host has no such file. undefined if the
   * inventory names none.
   */
  readonly ofKubelet?: readonly string[] | 'missing' | undefined;
}

/** The file of the kubelet's own nameservers; empty: the inventory names none, or turns it off. */
export const kubeletResolvConf = ({ kubelet }: Pick<Host, 'kubelet'>): string => {
  const file = kubelet.config['resolvConf'];
  return typeof file === 'string' ? file : '';
};

const nameservers = (text: string): readonly string[] =>
  lines(text).flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? []);

/** kubeadm gives the kubelet systemd-resolved's own file where that service runs, else /etc/resolv.conf. */
export const resolver = (host: Pick<Host, 'kubelet'>) =>
  probeInPlace(script('host/probe-resolver.sh', { RESOLV_CONF: kubeletResolvConf(host) }), (out): Resolver => {
    const [own = '', upstream = '', ofKubelet] = out.split('---\n');
    return {
      nameservers: nameservers(own),
      upstream: upstream.startsWith('active') ? nameservers(upstream) : 'absent',
      ...(ofKubelet === undefined
        ? {}
        : { ofKubelet: ofKubelet.startsWith('there') ? nameservers(ofKubelet) : ('missing' as const) }),
    };
  });

/**
 * The addresses of a name, of IPv4 alone unless the cluster has IPv6; empty if the name does not exist; `silent` if no
 * nameserver answered within the limit.
 */
type Lookup = readonly string[] | 'silent';

/** The name of the addresses that /etc/hosts has for localhost: glibc makes 127.0.0.1 of ::1, Go does not. */
export const HOSTS_FILE = '/etc/hosts';

/**
 * The answers of the host's own resolver for `localhost`, the host's own name and the given names,
 * and what /etc/hosts has for localhost. `ipv6`: addresses of both families.
 */
export const lookups = (names: readonly string[], ipv6 = false) =>
  probeInPlace(
    script('host/probe-lookups.sh', { NAMES: names, DATABASE: ipv6 ? 'ahosts' : 'ahostsv4' }),
    (out): ReadonlyMap<string, Lookup> =>
      new Map(
        lines(out).map((line) => {
          const [name = '', kind, ...addresses] = line.trim().split(/\s+/);
          return [name, kind === 'silent' ? 'silent' : [...new Set(addresses)].toSorted()] as const;
        }),
      ),
  );
