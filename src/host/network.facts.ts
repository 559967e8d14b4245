import { pluginChains, pluginTables } from '../network/plugins.value.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';

/** A socket that listens. */
interface Listener {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  readonly address: string;
  /** Process name; `unknown` if the kernel does not show it, or listens itself (VXLAN). */
  readonly process: string;
  /** Its number, where the process is known. */
  readonly pid?: number;
}

/**
 * Listening TCP and UDP sockets with the process that holds each. Sockets that systemd still
 * holds for a survey of a killed kbuild are left out: systemd closes them soon.
 */
export const listeners = probeInPlace(
  sh`set -- /run/systemd/transient/kbuild-survey-*
     if [ -e "$1" ]; then ss -H -l -t -u -n -p | grep -vF '("systemd",pid=1,' || true; else ss -H -l -t -u -n -p; fi`,
  (out): readonly Listener[] =>
    lines(out).flatMap((line) => {
      const [netid, , , , local = ''] = line.trim().split(/\s+/);
      const [, address, port] = /^(.*):(\d+)$/.exec(local) ?? [];
      if (address === undefined || (netid !== 'tcp' && netid !== 'udp')) return [];
      const [, process = 'unknown', pid] = /users:\(\("([^"]+)",pid=(\d+)/.exec(line) ?? [];
      return [
        { protocol: netid, address, port: Number(port), process, ...(pid === undefined ? {} : { pid: Number(pid) }) },
      ];
    }),
);

/** A network interface. */
interface Interface {
  readonly name: string;
  readonly addresses: readonly string[];
  /** IPv6 addresses that the host does not keep, or does not have yet, each with the kernel's words for that. */
  readonly unsteady?: Readonly<Record<string, string>>;
  /** Hardware address; empty where there is none. */
  readonly mac: string;
  readonly mtu: number;
  /** It is off, or has no carrier: no cable, no other end. */
  readonly isDown?: true;
}

/** Network interfaces with their addresses, without prefix length. */
export const interfaces = probeInPlace(sh`ip addr show`, (out): readonly Interface[] => {
  const found = new Map<
    string,
    { name: string; addresses: string[]; unsteady?: Record<string, string>; mac: string; mtu: number; isDown?: true }
  >();
  let name: string | undefined;
  for (const line of lines(out)) {
    // Each interface begins with a line of its own; what belongs to it stands below.
    name = /^\d+: ([^@:\s]+)/.exec(line)?.[1] ?? name;
    if (name === undefined) continue;
    const one: NonNullable<ReturnType<typeof found.get>> = found.get(name) ?? { name, addresses: [], mac: '', mtu: 0 };
    const address = /\binet6? ([0-9a-f.:]+)/.exec(line)?.[1];
    if (address !== undefined) one.addresses.push(address);
    const state = line.match(/\b(?:temporary|deprecated|tentative|dadfailed)\b/g);
    if (address?.includes(':') === true && state !== null)
      one.unsteady = { ...one.unsteady, [address]: state.join(', ') };
    // The first is its own: virtual functions of a card may follow.
    if (one.mac === '') one.mac = /\blink\/ether ([0-9a-f:]{17})/.exec(line)?.[1] ?? '';
    one.mtu = Number(/\bmtu (\d+)/.exec(line)?.[1] ?? one.mtu);
    // LOWER_UP is the carrier (include/uapi/linux/if.h: IFF_LOWER_UP).
    const flags = /^\d+: \S+: <([\w,-]*)>/.exec(line)?.[1]?.split(',');
    if (flags?.includes('LOWER_UP') === false) one.isDown = true;
    found.set(name, one);
  }
  return [...found.values()];
});

/**
 * How chains of kube-proxy, the kubelet, CNI plugins and network plugins begin: alternatives of a regular expression.
 */
export const KUBE_CHAINS = ['KUBE-', 'CNI-', ...pluginChains].join('|');

/** Tables that kube-proxy and network plugins make in nftables, in the families ip and ip6. */
export const KUBE_TABLES: readonly string[] = ['kube-proxy', ...pluginTables];

/**
 * Chains of kube-proxy, the kubelet and CNI plugins in the packet filters of both families, e.g. `KUBE-SERVICES`, and
 * tables of kube-proxy and network plugins in nftables, e.g. `nft ip kube-proxy`.
 */
export const kubeChains = probeInPlace(
  script('host/probe-kube-chains.sh', { CHAINS: KUBE_CHAINS, TABLES: KUBE_TABLES }),
  (out) => [...new Set(lines(out).map((line) => (line.startsWith('nft ') ? line : line.slice(1).split(' ')[0]!)))],
);

/** A route of the main table. */
export interface Route {
  /** CIDR or address; `default` of IPv4; `::/0` is that of IPv6. */
  readonly destination: string;
  /** Empty for a route that leads nowhere (`blackhole`). */
  readonly device: string;
  /** Of a default route of IPv6 that a router has advertised: `net.ipv6.conf.DEVICE.accept_ra`. */
  readonly acceptRa?: string;
}

/** How packets to an address leave the host. */
interface PathTo {
  readonly device: string;
  /** The address that the other end sees. */
  readonly source: string;
}

/**
 * Routes, and the ways to the given addresses; an address that is missing there cannot be reached. `ipv6`: those of
 * IPv6 too.
 */
export const routes = (addresses: readonly string[], ipv6 = false) =>
  probeInPlace(
    script('host/probe-routes.sh', { ADDRESSES: addresses, FAMILIES: ipv6 ? ['4', '6'] : ['4'] }),
    (out): { readonly table: readonly Route[]; readonly to: ReadonlyMap<string, PathTo> } => {
      const [shown = '', got = ''] = out.split('---\n');
      const word = (line: string, name: string): string => new RegExp(`\\b${name} (\\S+)`).exec(line)?.[1] ?? '';
      const table = lines(shown).map((line) => {
        const [first = '', second = ''] = line.trim().split(/\s+/);
        const leadsNowhere = /^(?:blackhole|unreachable|prohibit|throw)$/.test(first);
        const acceptRa = word(line, 'accept_ra');
        const route = {
          destination: leadsNowhere || first === 'unicast' ? second : first,
          // IPv6 shows such a route at lo.
          device: leadsNowhere ? '' : word(line, 'dev'),
        };
        return acceptRa === '' ? route : { ...route, acceptRa };
      });
      const to = lines(got).flatMap((line) => {
        const address = /^(?:local |broadcast )?([\da-f]*[.:][\da-f.:]+)(?: |$)/.exec(line)?.[1];
        return address === undefined
          ? []
          : [[address, { device: word(line, 'dev'), source: word(line, 'src') }] as const];
      });
      return { table, to: new Map(to) };
    },
  );
