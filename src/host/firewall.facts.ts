import { familyOf } from '../inventory/addresses.ts';
import { lines, probeInPlace, unexpected } from '../shell/probe.ts';
import { script } from '../templates.ts';
import { type Allowed, type Firewall, firewalld, OUR_NAME, portRange } from './firewalld.facts.ts';
import { ALL_PORTS, type Opening } from './openings.value.ts';

/** Rules that concern no connection from outside, or only its later packets. */
const NEUTRAL =
  /^(?:ct state|iif(?:name)? "?lo"?|meta iif|ip6? protocol icmp|icmp|meta nfproto ipv6|ip6 (?!saddr|daddr))/;

/** Only ICMP of either family, alone or both. */
const ICMP = /^meta l4proto (?:(?:ipv6-)?icmp|\{ (?:ipv6-)?icmp(?:, (?:ipv6-)?icmp)* \})/;

/** nft and iptables write it differently; without /etc/protocols it has only a number. */
const VRRP = /\b(?:meta l4proto|ip protocol|ip6 nexthdr) (?:vrrp|112) /;

/** One rule of a chain as `nft list chain` shows it. */
function rule(text: string, hook: Opening['hook']): readonly Allowed[] | 'obscure' {
  if (/\b(?:jump|goto|vmap)\b/.test(text)) return 'obscure';
  if (!/\baccept\b/.test(text)) return [];
  const ours = text.includes(`comment "${OUR_NAME}"`);
  const whole = text
    .replace(/counter packets \d+ bytes \d+ ?/, '')
    .replace(/comment ".*"/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const match = whole.replace(VRRP, '');
  const portless = match === whole ? 'any' : 'vrrp';
  if (NEUTRAL.test(match) || ICMP.test(match)) return [];
  const [, saddr, daddr, protocol, list, single] =
    /^(?:ip6? saddr (\S+|\{[^}]*\}) )?(?:ip6? daddr (\S+|\{[^}]*\}) )?(?:(tcp|udp) dport (?:\{([^}]*)\}|(\S+)) )?accept$/.exec(
      match,
    ) ?? [];
  if (match !== 'accept' && saddr === undefined && daddr === undefined && protocol === undefined)
    return match.startsWith('ip6 ') ? [] : 'obscure';
  if (hook === 'input' && daddr !== undefined) return match.includes('ip6 daddr') ? [] : 'obscure';
  const addresses = (one: string | undefined): readonly string[] =>
    one === undefined
      ? ['any']
      : one
          .replace(/[{}]/g, '')
          .split(',')
          .map((word) => word.trim());
  const ports = protocol === undefined ? [ALL_PORTS] : (list ?? single!).split(',').map((one) => portRange(one.trim()));
  if (ports.some((range) => range.some(Number.isNaN))) return 'obscure';
  const known = (protocol as 'tcp' | 'udp' | undefined) ?? portless;
  return addresses(saddr).flatMap((from) =>
    addresses(daddr).flatMap((to) => ports.map((range) => ({ hook, protocol: known, ports: range, from, to, ours }))),
  );
}

const same = (one: Opening, other: Opening): boolean =>
  one.protocol === other.protocol && one.ports[0] === other.ports[0] && one.from === other.from;

/**
 * `-A INPUT -s 10.0.0.21/32 -p tcp -m tcp --dport 6443 -m comment --comment kbuild -j ACCEPT`: nft hides the comment.
 */
function byIptables(line: string): readonly Allowed[] {
  const [, from, protocol, port] =
    /-s (\S+?)(?:\/32|\/128)? (?:-p (tcp|udp) .*--dport (\d+) |-p (?:vrrp|112) )/.exec(line) ?? [];
  if (from === undefined) return [];
  const what =
    port === undefined
      ? { protocol: 'vrrp' as const, ports: ALL_PORTS }
      : { protocol: protocol as 'tcp' | 'udp', ports: portRange(port) };
  return [{ hook: 'input', ...what, from, to: 'any', ours: true }];
}

/** The chains in which kbuild's rules of iptables stand. */
const IPTABLES_INPUT: readonly string[] = ['ip filter INPUT', 'ip6 filter INPUT'];

/** Of a chain's family. */
const isOf =
  (place: string) =>
  ({ from }: Opening): boolean =>
    (familyOf(from) === 'IPv6') === place.startsWith('ip6 ');

/** Chains that end in a drop, each as nft lists it, with kbuild's rules of iptables behind them all. */
function nftables(out: string): readonly Firewall[] {
  const ours = lines(out).filter((line) => line.startsWith('ours '));
  return out.split(/^(?=table )/m).flatMap((block): readonly Firewall[] => {
    const body = lines(block).map((line) => line.trim());
    const [, table = '', chain = ''] = /^table (\S+ \S+) \{\s*chain (\S+) \{/.exec(block) ?? [];
    const place = `${table} ${chain}`;
    const hook = /hook (input|forward) /.exec(block)?.[1] as Opening['hook'] | undefined;
    const rules = body.filter((line) => line !== '}' && !/^(?:table|chain|type|ours) /.test(line));
    const last = (rules.at(-1) ?? '').replace(/counter packets \d+ bytes \d+ ?/, '');
    if (hook === undefined || (!/policy drop/.test(block) && !/^(?:drop|reject\b.*)$/.test(last))) return [];
    const parsed = rules.map((one) => rule(one, hook));
    const own = IPTABLES_INPUT.includes(place) ? ours.flatMap(byIptables).filter(isOf(place)) : [];
    const shown = parsed.flatMap((one) => (one === 'obscure' ? [] : one));
    return [
      {
        kind: 'nftables',
        hook,
        place,
        allowed: [...shown.filter((one) => !own.some((mine) => same(mine, one))), ...own],
        obscure: parsed.includes('obscure'),
      },
    ];
  });
}

/** A protocol without ports: `Anywhere                   ALLOW       10.0.0.12/vrrp`. */
const UFW_VRRP = /\/vrrp$/;

/**
 * `6443/tcp                   ALLOW       10.0.0.0/24                # kbuild` of `ufw status`. Those of ufw for
 * any sender of IPv6 are left out: they repeat those of IPv4.
 */
function ufwRule(line: string): readonly Allowed[] | 'obscure' {
  const [rule = '', ...comment] = line.split('#');
  const [to = '', action = '', from = ''] = rule.trimEnd().split(/\s{2,}/);
  if (to === '' || from === '' || !/^(?:ALLOW|LIMIT)(?: IN)?$/.test(action)) return [];
  if (to.includes('(v6)') || from.includes('(v6)') || to.endsWith(' FWD')) return [];
  const isVrrp = UFW_VRRP.test(to) || UFW_VRRP.test(from);
  const sender = from.replace(UFW_VRRP, '');
  const source = sender === 'Anywhere' ? 'any' : sender;
  if (!/^(?:any|[\da-f.:/]+)$/.test(source)) return 'obscure';
  const common = { hook: 'input', from: source, to: 'any', ours: comment.join('#').trim() === OUR_NAME } as const;
  if (to.replace(UFW_VRRP, '') === 'Anywhere')
    return [{ ...common, protocol: isVrrp ? 'vrrp' : 'any', ports: ALL_PORTS }];
  const [, ports, protocol] = /^([\d:,]+)(?:\/(tcp|udp))?$/.exec(to) ?? [];
  if (ports === undefined) return 'obscure';
  return ports.split(',').map((one) => ({
    ...common,
    protocol: (protocol as 'tcp' | 'udp' | undefined) ?? 'any',
    ports: portRange(one),
  }));
}

/**
 * `-A ufw-before-input -s 10.0.0.12/32 -p vrrp -j ACCEPT`: ufw before 0.36.2 knows no VRRP, and people write it there.
 */
function before(line: string): readonly Allowed[] {
  const [, from = 'any'] = /^-A ufw-before-input(?: -s (\S+?)(?:\/32)?)? -p (?:vrrp|112) -j ACCEPT$/.exec(line) ?? [];
  return [{ hook: 'input', protocol: 'vrrp', ports: ALL_PORTS, from, to: 'any', ours: false }];
}

/**
 * Parses `ufw status`, then rules of VRRP that lie before ufw's own. Nothing if ufw is off. Forwarded packets are left
 * out: the network plugin accepts its own in the same chain.
 */
export function ufw(out: string): readonly Firewall[] {
  if (!/^Status: active/m.test(out)) return [];
  const isBefore = (line: string): boolean => line.startsWith('-A ');
  const all = lines(out);
  const rules = [...all.filter((line) => !isBefore(line)).map(ufwRule), ...all.filter(isBefore).map(before)];
  return [
    {
      kind: 'ufw',
      hook: 'input',
      place: 'ufw',
      allowed: rules.flatMap((one) => (one === 'obscure' ? [] : one)),
      obscure: rules.includes('obscure'),
    },
  ];
}

/**
 * The host's own firewalls and the packets that they let in and through; empty if none drops packets. Chains of ufw and
 * firewalld are read through their own programs. The FORWARD chain of iptables is left out: the network plugin and
 * kube-proxy write into it.
 */
export const firewall = probeInPlace(script('host/probe-firewall.sh'), (out): readonly Firewall[] => {
  const [kind, ...rest] = out.split('\n');
  const text = rest.join('\n');
  if (kind === 'ufw') return ufw(text);
  if (kind === 'firewalld') return firewalld(text);
  if (kind === 'nftables') return nftables(text);
  if (kind === 'none') return [];
  throw unexpected(out);
});
