import { expect, test } from 'vitest';
import { firewall } from '../../src/facts/linux/firewall.ts';
import { linuxHosts } from '../../src/inventory/select.ts';
import { factsOf } from '../fakes/facts.ts';
import { inventory } from '../fakes/inventory.ts';

const parse = (out: string) => firewall.parse(out, { middleMs: 0 });
const inv = inventory();

test('nothing that drops is no firewall', () => {
  expect(parse('nftables\n')).toBe('none');
  expect(parse('none\n')).toBe('none');
  expect(parse('ufw\nStatus: inactive\n')).toBe('none');
  expect(() => parse('what')).toThrow('unexpected output');
});

test('firewalld of a fresh Rocky lets nothing of ours in; a zone of sources lets in those', () => {
  const host = linuxHosts(inv)[0]!;
  expect(factsOf(inv, host, 'rocky-9-fresh').firewall).toEqual({
    kind: 'firewalld',
    place: 'public',
    allowed: [],
    obscure: false,
  });
  const zone = `firewalld
internal (active)
  target: ACCEPT
  sources: 10.0.0.0/24
  services: ssh
  ports: 6443/tcp 30000-32767/udp
`;
  expect(parse(zone)).toMatchObject({ allowed: [{ protocol: 'any', from: '10.0.0.0/24' }] });
  expect(parse(zone.replace('ACCEPT', 'default'))).toMatchObject({
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
  expect(parse(out)).toMatchObject({
    obscure: false,
    allowed: [
      { ports: [22, 22], from: 'any' },
      { protocol: 'tcp', ports: [2379, 2380], from: '10.0.0.11' },
      { ports: [80, 80] },
      { ports: [443, 443] },
      { protocol: 'any', ports: [0, 65_535], from: '10.1.0.0/16' },
    ],
  });
  expect(parse(out.replace('22/tcp  ', 'OpenSSH '))).toMatchObject({ obscure: true });
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
  ).toEqual({
    kind: 'nftables',
    place: 'inet filter input',
    obscure: false,
    allowed: [
      { protocol: 'tcp', ports: [6443, 6443], from: '10.0.0.0/24' },
      { protocol: 'tcp', ports: [10_250, 10_250], from: '10.0.0.0/24' },
    ],
  });
  expect(parse(chain('\t\tjump services\n'))).toMatchObject({ obscure: true, allowed: [] });
});
