import { describe, expect, test } from 'vitest';
import { corefileParts, corefileWith, ownBlocks, takenZones, zonesOf } from '../../src/kubeadm/dns-blocks.step.ts';

/** As kubeadm writes it, without most of its plugins. */
const KUBEADMS = `.:53 {
    errors
    health {
       lameduck 5s
    }
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       ttl 30
    }
    forward . /etc/resolv.conf
}
`;
const BLOCKS = { 'b.example.com:5353': 'errors', 'a.example.com': 'hosts {\n  10.0.0.1 x.a.example.com\n}\n' };

describe("kbuild's part of a Corefile", () => {
  const whole = corefileWith(KUBEADMS, ownBlocks(BLOCKS));

  test('stands behind the rest between two lines of its own, zone after zone', () =>
    expect(whole).toBe(`${KUBEADMS}# Begin of dns.blocks. kbuild writes what follows: edit the inventory.
a.example.com {
    hosts {
      10.0.0.1 x.a.example.com
    }
}
b.example.com:5353 {
    errors
}
# End of dns.blocks.
`));

  test('is found again, with the rest as it was', () => {
    expect(corefileParts(whole)).toEqual({ rest: KUBEADMS, own: ownBlocks(BLOCKS) });
    expect(corefileWith(KUBEADMS, ownBlocks({}))).toBe(KUBEADMS);
    expect(corefileParts(KUBEADMS)).toEqual({ rest: KUBEADMS, own: '' });
  });

  test('keeps what an operator writes before and behind it', () => {
    const edited = `# mine\n${whole}c.example.com {\n}\n`;
    expect(corefileParts(edited)).toMatchObject({ rest: `# mine\n${KUBEADMS}c.example.com {\n}\n` });
  });

  test.each([
    ['its last line', whole.replace('# End of dns.blocks.\n', '')],
    ['its first line', whole.replace(/# Begin.*\n/, '')],
    ['one of two first lines', whole.replace(/(# Begin.*\n)/, '$1$1')],
  ])('is unknown without %s', (_, text) => expect(corefileParts(text)).toBe('broken'));
});

describe('zones of a Corefile', () => {
  test('are those of its server blocks, spelled as CoreDNS compares them', () =>
    expect([...zonesOf(`${KUBEADMS}dns://A.example.com.:53, b.example.com:5353 {\n  forward . x # } {\n}\n`)]).toEqual([
      '',
      'a.example.com',
      'b.example.com:5353',
    ]));

  test('are taken if the rest has a block for them: CoreDNS would not start with two', () => {
    const rest = `${KUBEADMS}a.example.com:53 {\n}\n`;
    expect(takenZones(rest, BLOCKS)).toEqual(['a.example.com']);
    expect(takenZones(KUBEADMS, BLOCKS)).toEqual([]);
  });
});
