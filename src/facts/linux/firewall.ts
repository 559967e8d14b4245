import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** What a firewall lets in: ports of a protocol from some addresses. */
export interface Allowed {
  readonly protocol: 'tcp' | 'udp' | 'any';
  /** First and last port. */
  readonly ports: readonly [first: number, last: number];
  /** CIDR, address or `any`. */
  readonly from: string;
}

/** A firewall that drops what it does not know. */
export interface Firewall {
  readonly kind: 'ufw' | 'firewalld' | 'nftables';
  /** Where the rules are: a zone, or a chain as `family table chain`. */
  readonly place: string;
  readonly allowed: readonly Allowed[];
  /** True when there are rules that kbuild does not understand: it may let in more than `allowed` says. */
  readonly obscure: boolean;
}

const ALL: Allowed['ports'] = [0, 65_535];

function portRange(text: string): Allowed['ports'] {
  const [first, last] = text.split(/[:-]/).map(Number);
  return [first!, last ?? first!];
}

/** `6443/tcp                   ALLOW       10.0.0.0/24` of `ufw status`. Rules of IPv6 are left out. */
function ufwRule(line: string): readonly Allowed[] | 'obscure' {
  const [, to, action, from] =
    /^(\S.*?)\s{2,}(ALLOW|LIMIT|DENY|REJECT)(?: IN)?\s{2,}(\S.*?)\s*(?:#.*)?$/.exec(line) ?? [];
  if (to === undefined || action === 'DENY' || action === 'REJECT') return [];
  if (to.includes('(v6)') || from!.includes('(v6)') || / FWD$/.test(to)) return [];
  const source = from === 'Anywhere' ? 'any' : from!;
  if (!/^(?:any|[\d./]+)$/.test(source)) return 'obscure';
  if (to === 'Anywhere') return [{ protocol: 'any', ports: ALL, from: source }];
  const [, ports, protocol] = /^([\d:,]+)(?:\/(tcp|udp))?$/.exec(to) ?? [];
  if (ports === undefined) return 'obscure';
  return ports.split(',').map((one) => ({
    protocol: (protocol as 'tcp' | 'udp' | undefined) ?? 'any',
    ports: portRange(one),
    from: source,
  }));
}

function ufw(out: string): Firewall {
  const rules = lines(out).map(ufwRule);
  return {
    kind: 'ufw',
    place: 'ufw',
    allowed: rules.flatMap((rule) => (rule === 'obscure' ? [] : rule)),
    obscure: rules.includes('obscure'),
  };
}

/** Ports of firewalld's own services that a node may have open by name. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
  'kube-apiserver': ['6443/tcp'],
  'kube-control-plane': ['6443/tcp', '2379-2380/tcp', '10250/tcp', '10257/tcp', '10259/tcp'],
  'kube-api': ['6443/tcp'],
  'kube-worker': ['10250/tcp', '30000-32767/tcp'],
  kubelet: ['10250/tcp'],
  'etcd-server': ['2380/tcp'],
  'etcd-client': ['2379/tcp'],
};

/** `firewall-cmd --list-all-zones`: only active zones count. A zone of sources lets in those alone. */
function firewalld(out: string): Firewall {
  const zones = out.split(/^(?=\S)/m).filter((zone) => /^\S+ \(.*active.*\)/.test(zone));
  const field = (zone: string, name: string): readonly string[] =>
    (new RegExp(`^\\s+${name}: *(.*)$`, 'm').exec(zone)?.[1] ?? '').split(/\s+/).filter((word) => word !== '');
  const allowed = zones.flatMap((zone): readonly Allowed[] => {
    const sources = field(zone, 'sources');
    const froms = sources.length === 0 ? ['any'] : sources;
    if (field(zone, 'target')[0] === 'ACCEPT')
      return froms.map((from) => ({ protocol: 'any', ports: ALL, from }) as const);
    const ports = [...field(zone, 'ports'), ...field(zone, 'services').flatMap((name) => SERVICES[name] ?? [])];
    return ports.flatMap((one) => {
      const [range = '', protocol = ''] = one.split('/');
      return froms.map((from) => ({ protocol: protocol as 'tcp' | 'udp', ports: portRange(range), from }));
    });
  });
  const rich = zones.some((zone) => /^\s+rule .*accept/m.test(zone));
  return { kind: 'firewalld', place: zones.map((zone) => zone.split(' ')[0]!).join(', '), allowed, obscure: rich };
}

/** One rule of an input chain of `nft list chain`. */
function nftRule(rule: string): readonly Allowed[] | 'obscure' {
  if (/\b(?:jump|goto|vmap)\b/.test(rule)) return 'obscure';
  if (!/\baccept\b/.test(rule)) return [];
  const match = rule
    .replace(/counter packets \d+ bytes \d+ ?/, '')
    .replace(/comment ".*"/, '')
    .trim();
  if (/^(?:ct state|iif(?:name)? "?lo"?|meta iif|ip6? protocol icmp|icmp|meta l4proto (?:ipv6-)?icmp)/.test(match))
    return [];
  const [, saddr, protocol, list, single] =
    /^(?:ip saddr (\S+|\{[^}]*\}) )?(?:(tcp|udp) dport (?:\{([^}]*)\}|(\S+)) )?accept$/.exec(match) ?? [];
  if (saddr === undefined && protocol === undefined)
    return match === 'accept' ? [{ protocol: 'any', ports: ALL, from: 'any' }] : 'obscure';
  const froms =
    saddr === undefined
      ? ['any']
      : saddr
          .replace(/[{}]/g, '')
          .split(',')
          .map((one) => one.trim());
  const ports = protocol === undefined ? [ALL] : (list ?? single!).split(',').map((one) => portRange(one.trim()));
  if (ports.some((range) => range.some(Number.isNaN))) return 'obscure';
  return froms.flatMap((from) =>
    ports.map((range) => ({ protocol: (protocol as 'tcp' | 'udp' | undefined) ?? 'any', ports: range, from }) as const),
  );
}

/** Chains of hook input that end in a drop, each as nft lists it below `chain FAMILY TABLE NAME`. */
function nftables(out: string): Firewall | 'none' {
  for (const block of out.split(/^(?=chain )/m)) {
    const [head = '', ...body] = lines(block).map((line) => line.trim());
    const rules = body.filter((line) => line !== '}' && !/^(?:table|chain|type) /.test(line));
    const last = (rules.at(-1) ?? '').replace(/counter packets \d+ bytes \d+ ?/, '');
    if (!/policy drop/.test(block) && !/^(?:drop|reject\b.*)$/.test(last)) continue;
    const parsed = rules.map(nftRule);
    return {
      kind: 'nftables',
      place: head.replace('chain ', ''),
      allowed: parsed.flatMap((rule) => (rule === 'obscure' ? [] : rule)),
      obscure: parsed.includes('obscure'),
    };
  }
  return 'none';
}

/**
 * The host's own firewall and what it lets in; `none` where nothing drops. Chains of ufw and firewalld are read through
 * their own programs.
 */
export const firewall = probe(
  sh`if grep -qs '^ENABLED=yes' /etc/ufw/ufw.conf && command -v ufw >/dev/null; then
       echo ufw; ufw status
     elif systemctl -q is-active firewalld 2>/dev/null; then
       echo firewalld; firewall-cmd --list-all-zones
     elif command -v nft >/dev/null; then
       echo nftables
       nft list chains 2>/dev/null | while read -r word one two rest; do
         case $word in
           table) table="$one $two" ;;
           chain) chain=$one ;;
           type) case "$one $two $rest" in *'hook input '*) echo "chain $table $chain"; nft list chain $table $chain ;; esac ;;
         esac
       done
     else echo none; fi`,
  (out): Firewall | 'none' => {
    const [kind, ...rest] = out.split('\n');
    const text = rest.join('\n');
    if (kind === 'ufw') return /^Status: active/m.test(text) ? ufw(text) : 'none';
    if (kind === 'firewalld') return firewalld(text);
    if (kind === 'nftables') return nftables(text);
    if (kind === 'none') return 'none';
    throw new Error(`unexpected output: ${out}`);
  },
);
