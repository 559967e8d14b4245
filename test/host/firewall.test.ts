import { expect, test } from 'vitest';
import { firewall } from '../../src/host/firewall.facts.ts';
import { closedOpenings } from '../../src/host/openings.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import { factsOf } from '../fakes/facts.ts';
import { inventory } from '../fakes/inventory.ts';

const parse = (out: string) => firewall.parse(out, { middleMs: 0 });
const inv = inventory();

test('nothing that drops is no firewall', () => {
  expect(parse('nftables\n')).toEqual([]);
  expect(parse('none\n')).toEqual([]);
  expect(parse('ufw\nStatus: inactive\n')).toEqual([]);
  expect(() => parse('what')).toThrow('unexpected output');
});

test('firewalld of a fresh Rocky lets nothing of ours in or through; a zone of sources lets in those', () => {
  const host = linuxHosts(inv)[0]!;
  expect(factsOf(inv, host, 'rocky-9-fresh').firewall).toEqual([
    { kind: 'firewalld', hook: 'input', place: 'public', allowed: [], obscure: false },
    // Though its zone says `forward: yes`: interfaces of pods are not assigned to it.
    { kind: 'firewalld', hook: 'forward', place: 'public', allowed: [], obscure: false },
  ]);
  const zone = `firewalld
internal (active)
  target: ACCEPT
  sources: 10.0.0.0/24
  services: ssh
  ports: 6443/tcp 30000-32767/udp
`;
  expect(parse(zone)).toMatchObject([
    { hook: 'input', allowed: [{ protocol: 'any', from: '10.0.0.0/24' }] },
    { hook: 'forward', allowed: [{ from: '10.0.0.0/24' }, { to: '10.0.0.0/24' }] },
  ]);
  expect(parse(zone.replace('ACCEPT', 'default'))[0]).toMatchObject({
    allowed: [
      { protocol: 'tcp', ports: [6443, 6443], from: '10.0.0.0/24' },
      { protocol: 'udp', ports: [30_000, 32_767], from: '10.0.0.0/24' },
    ],
  });
});

test('ufw: ranges, lists and sources; what is denied and IPv6 are left out', () => {
  const out = `ufw
Status: active

To                         Action      From
--                         ------      ----
22/tcp                     LIMIT       Anywhere
2379:2380/tcp              ALLOW       10.0.0.11
80,443/tcp                 ALLOW       Anywhere
Anywhere                   ALLOW       10.1.0.0/16
8472/udp                   DENY        Anywhere
6443/tcp (v6)              ALLOW       Anywhere (v6)
`;
  expect(parse(out)[0]).toMatchObject({
    obscure: false,
    allowed: [
      { ports: [22, 22], from: 'any' },
      { protocol: 'tcp', ports: [2379, 2380], from: '10.0.0.11' },
      { ports: [80, 80] },
      { ports: [443, 443] },
      { protocol: 'any', ports: [0, 65_535], from: '10.1.0.0/16' },
    ],
  });
  expect(parse(out.replace('22/tcp  ', 'OpenSSH '))[0]).toMatchObject({ obscure: true });
});

test('nftables: a chain that jumps may let in more than kbuild can read', () => {
  const chain = (rules: string) => `nftables\nchain inet filter input
table inet filter {
\tchain input {
\t\ttype filter hook input priority filter; policy accept;
${rules}\t\tcounter packets 3 bytes 180 drop
\t}
}
`;
  expect(
    parse(chain('\t\tip saddr 10.0.0.0/24 tcp dport { 6443, 10250 } counter packets 1 bytes 60 accept\n')),
  ).toEqual([
    {
      kind: 'nftables',
      hook: 'input',
      place: 'inet filter input',
      obscure: false,
      allowed: [6443, 10_250].map((port) => ({
        hook: 'input',
        protocol: 'tcp',
        ports: [port, port],
        from: '10.0.0.0/24',
        to: 'any',
        ours: false,
      })),
    },
  ]);
  expect(parse(chain('\t\tjump services\n'))[0]).toMatchObject({ obscure: true, allowed: [] });
});

// Captured in the lab: ufw 0.36.2, firewalld 1.3.3, nft 1.0.6 and iptables 1.8.9 of Debian 12.
test('what kbuild opened itself is known by its name, in each of them', () => {
  const ufw = `ufw
Status: active

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW       Anywhere                  
6443,10250/tcp             ALLOW       10.77.0.1                  # kbuild
`;
  expect(parse(ufw)[0]!.allowed).toMatchObject([
    { ours: false },
    { ours: true },
    { ports: [10_250, 10_250], ours: true },
  ]);
  const policy = `firewalld
default public
public
  target: default
  services: dhcpv6-client ssh
  forward: yes
  rich rules: 

policies
allow-host-ipv6 (active)
  priority: -15000
  target: CONTINUE
  ingress-zones: ANY
  egress-zones: HOST
  rich rules: 
\trule family="ipv6" icmp-type name="neighbour-advertisement" accept

kbuild (active)
  priority: -1
  target: CONTINUE
  ingress-zones: ANY
  egress-zones: HOST
  rich rules: 
\trule family="ipv4" source address="10.77.0.11" port port="6443" protocol="tcp" accept

kbuild-pods (active)
  priority: -1
  target: CONTINUE
  ingress-zones: ANY
  egress-zones: ANY
  rich rules: 
\trule family="ipv4" source address="10.244.0.0/16" accept
\trule family="ipv4" destination address="10.244.0.0/16" accept
`;
  expect(parse(policy)).toMatchObject([
    { hook: 'input', obscure: false, allowed: [{ from: '10.77.0.11', ports: [6443, 6443], ours: true }] },
    { hook: 'forward', allowed: [{ from: '10.244.0.0/16' }, { to: '10.244.0.0/16', from: 'any', ours: true }] },
  ]);
  const chains = `nftables
chain inet filter forward
table inet filter {
\tchain forward {
\t\ttype filter hook forward priority filter; policy drop;
\t\tip daddr 10.244.0.0/16 accept comment "kbuild"
\t}
}
chain ip filter INPUT
table ip filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy drop;
\t\tip saddr 10.77.0.12 tcp dport 6443  counter packets 0 bytes 0 accept
\t\tiifname "lo" counter packets 0 bytes 0 accept
\t\ttcp dport 22 counter packets 0 bytes 0 accept
\t\tct state related,established counter packets 0 bytes 0 accept
\t}
}
ours -A INPUT -s 10.77.0.12/32 -p tcp -m tcp --dport 6443 -m comment --comment kbuild -j ACCEPT
`;
  expect(parse(chains)).toMatchObject([
    { hook: 'forward', obscure: false, allowed: [{ to: '10.244.0.0/16', ours: true }] },
    {
      hook: 'input',
      place: 'ip filter INPUT',
      obscure: false,
      allowed: [
        { ports: [22, 22], ours: false },
        { from: '10.77.0.12', ports: [6443, 6443], ours: true },
      ],
    },
  ]);
});

test('rules of IPv6 are read as those of IPv4, and a chain of one family blocks that family alone', () => {
  const chains = `nftables
chain inet own input
table inet own {
\tchain input {
\t\ttype filter hook input priority filter; policy drop;
\t\tip6 saddr fd00::21 tcp dport { 6443, 10250 } accept comment "kbuild"
\t\tip6 daddr ff02::fb udp dport 5353 accept
\t\tip6 nexthdr 112 accept
\t\tmeta l4proto { icmp, ipv6-icmp } accept
\t}
}
chain ip6 filter INPUT
table ip6 filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy drop;
\t}
}
ours -A INPUT -s 10.77.0.12/32 -p tcp -m tcp --dport 6443 -m comment --comment kbuild -j ACCEPT
ours -A INPUT -s fd00::22/128 -p tcp -m tcp --dport 6443 -m comment --comment kbuild -j ACCEPT
`;
  const [inet, ip6] = parse(chains);
  expect(inet).toMatchObject({
    obscure: false,
    allowed: [
      { from: 'fd00::21', ports: [6443, 6443], ours: true },
      { from: 'fd00::21', ports: [10_250, 10_250], ours: true },
      { protocol: 'vrrp' },
    ],
  });
  expect(ip6!.allowed).toMatchObject([{ from: 'fd00::22', ours: true }]);
  const [cp1] = linuxHosts(inv);
  const need = closedOpenings(inv, cp1!, ip6!);
  expect(need).toEqual([]);
  expect(closedOpenings(inv, cp1!, inet!).map(({ from }) => from)).toContain('10.0.0.21');
  const policy = `firewalld
default public
public
  target: default

policies
kbuild (active)
  ingress-zones: ANY
  egress-zones: HOST
  rich rules: 
\trule family="ipv6" source address="fd00:10:244::/56" port port="6443" protocol="tcp" accept
\trule family="ipv6" icmp-type name="neighbour-advertisement" accept
`;
  expect(parse(policy)[0]).toMatchObject({ obscure: false, allowed: [{ from: 'fd00:10:244::/56', ours: true }] });
});

// Captured in the lab: ufw 0.36.2, nft 1.0.6 and iptables 1.8.9 of Debian 12; firewalld by its documentation.
test('VRRP is let in as such, however it is written', () => {
  const from = (text: string) =>
    parse(text).flatMap(({ allowed, obscure }) => [
      ...(obscure ? ['obscure'] : []),
      ...allowed.map((one) => `${one.protocol} ${one.from}${one.ours ? ' ours' : ''}`),
    ]);
  const ufw = `ufw
Status: active

To                         Action      From
--                         ------      ----
Anywhere                   ALLOW       10.77.0.98/vrrp            # kbuild
Anywhere/vrrp              ALLOW       Anywhere/vrrp
-A ufw-before-input -s 10.77.0.99/32 -p vrrp -j ACCEPT
`;
  expect(from(ufw)).toEqual(['vrrp 10.77.0.98 ours', 'vrrp any', 'vrrp 10.77.0.99']);
  const chains = `nftables
chain ip filter INPUT
table ip filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy drop;
\t\tmeta l4proto vrrp ip saddr 10.77.0.98  counter packets 0 bytes 0 accept
\t}
}
ours -A INPUT -s 10.77.0.98/32 -p vrrp -m comment --comment kbuild -j ACCEPT
chain inet x in
table inet x {
\tchain in {
\t\ttype filter hook input priority filter; policy drop;
\t\tmeta l4proto 112 accept
\t\tip saddr 10.77.0.99 ip protocol vrrp accept comment "kbuild"
\t}
}
`;
  expect(from(chains)).toEqual(['vrrp 10.77.0.98 ours', 'vrrp any', 'vrrp 10.77.0.99 ours']);
  const zone = `firewalld
internal (active)
  target: default
  protocols: vrrp
  rich rules: 
\trule family="ipv4" source address="10.77.0.98" protocol value="vrrp" accept
`;
  expect(from(zone)).toEqual(['vrrp any', 'vrrp 10.77.0.98']);
});
