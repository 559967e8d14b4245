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
  /** Hardware address; empty where there is none. */
  readonly mac: string;
  readonly mtu: number;
  /** It is off, or has no carrier: no cable, no other end. */
  readonly isDown?: true;
}

/** Network interfaces with their addresses, without prefix length. */
export const interfaces = probeInPlace(sh`ip addr show`, (out): readonly Interface[] => {
  const found = new Map<string, { name: string; addresses: string[]; mac: string; mtu: number; isDown?: true }>();
  let name: string | undefined;
  for (const line of lines(out)) {
    // Each interface begins with a line of its own; what belongs to it stands below.
    name = /^\d+: ([^@:\s]+)/.exec(line)?.[1] ?? name;
    if (name === undefined) continue;
    const one = found.get(name) ?? { name, addresses: [], mac: '', mtu: 0 };
    const address = /\binet6? ([0-9a-f.:]+)/.exec(line)?.[1];
    if (address !== undefined) one.addresses.push(address);
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
  /** CIDR or address; `default`. */
  readonly destination: string;
  /** Empty for a route that leads nowhere (`blackhole`). */
  readonly device: string;
}

/** How packets to an address leave the host. */
interface PathTo {
  readonly device: string;
  /** The address that the other end sees. */
  readonly source: string;
}

/** Routes (IPv4), and the ways to the given addresses; an address that is missing there cannot be reached. */
export const routes = (addresses: readonly string[]) =>
  probeInPlace(
    script('host/probe-routes.sh', { ADDRESSES: addresses }),
    (out): { readonly table: readonly Route[]; readonly to: ReadonlyMap<string, PathTo> } => {
      const [shown = '', got = ''] = out.split('---\n');
      const word = (line: string, name: string): string => new RegExp(`\\b${name} (\\S+)`).exec(line)?.[1] ?? '';
      const table = lines(shown).map((line) => {
        const [first = '', second = ''] = line.trim().split(/\s+/);
        const typed = /^(?:unicast|blackhole|unreachable|prohibit|throw)$/.test(first);
        return { destination: typed ? second : first, device: word(line, 'dev') };
      });
      const to = lines(got).flatMap((line) => {
        const address = /^(?:local |broadcast )?(\d+\.\d+\.\d+\.\d+)\b/.exec(line)?.[1];
        return address === undefined
          ? []
          : [[address, { device: word(line, 'dev'), source: word(line, 'src') }] as const];
      });
      return { table, to: new Map(to) };
    },
  );
