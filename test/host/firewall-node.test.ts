import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { firewallClosed, firewallOpen } from '../../src/host/firewall.step.ts';
import type { Allowed, Firewall } from '../../src/host/firewalld.facts.ts';
import { closedOpenings } from '../../src/host/openings.ts';
import { openings } from '../../src/host/openings.value.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn, type Sent } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const open = inventory({ firewall: 'open' });

const drops = (firewall: Partial<Firewall> = {}): Firewall => ({
  kind: 'ufw',
  hook: 'input',
  place: 'ufw',
  allowed: [],
  obscure: false,
  ...firewall,
});

const seen = (firewall: readonly Firewall[], inv = open): Target =>
  target({ firewall }, { inventory: inv, host: 'w1' });

/** Scripts and contents. */
const told = (sent: readonly Sent[]): string =>
  sent.map((one) => ('script' in one ? one.script : 'content' in one ? one.content : '')).join('\n');

const summaries = (of: Target) => firewallOpen.diff(of).map(({ summary }) => summary);

/** As a firewall shows what kbuild opened. */
const ours = (of: Target, hook: 'input' | 'forward' = 'input'): readonly Allowed[] =>
  openings(of.inventory, of.host)
    .filter((one) => one.hook === hook)
    .map((one) => ({ ...one, ours: true }));

test('a host needs its ports for the hosts that use them, and for pods the kubelet and the way through', () => {
  const of = seen([]);
  expect(
    openings(open, of.host).map(({ protocol, ports: [port], from, to }) => `${protocol} ${String(port)} ${from} ${to}`),
  ).toEqual([
    'tcp 10250 10.0.0.11 any',
    'tcp 10256 10.0.0.11 any',
    'tcp 10256 10.0.0.22 any',
    'udp 8472 10.0.0.11 any',
    'udp 8472 10.0.0.22 any',
    'tcp 10250 10.244.0.0/16 any',
    'any 0 10.244.0.0/16 any',
    'any 0 any 10.244.0.0/16',
  ]);
});

test('a wider rule of the user covers a need, a narrower one does not', () => {
  const { host } = seen([]);
  const rule = (from: string): Allowed => ({
    hook: 'input',
    protocol: 'any',
    ports: [0, 65_535],
    from,
    to: 'any',
    ours: false,
  });
  expect(closedOpenings(open, host, drops({ allowed: [rule('any')] }))).toEqual([]);
  expect(closedOpenings(open, host, drops({ allowed: [rule('10.0.0.0/8')] }))).toEqual([]);
  const some = closedOpenings(open, host, drops({ allowed: [rule('10.0.0.0/24')] }));
  expect(some.map(({ from }) => from)).toEqual(['10.244.0.0/16']);
});

describe('ufw', () => {
  test('is left alone unless the inventory has `firewall: open`', () =>
    expect(summaries(seen([drops()], inventory()))).toEqual([]));

  test('is opened for the hosts that need it, with as few rules as possible', async () => {
    const of = seen([drops()]);
    expect(summaries(of)).toEqual(['open 10250/tcp, 10256/tcp, 8472/udp in ufw (found closed)']);
    const { on, sent } = recordingOn();
    await firewallOpen.diff(of)[0]!.apply!(on);
    expect(told(sent)).toContain("OPEN='10.0.0.11 tcp 10250,10256\n10.0.0.22 tcp 10256\n10.0.0.11 udp 8472");
  });

  test('needs nothing once it is open; closes what is no longer needed, and everything at a reset', () => {
    const of = seen([drops({ allowed: ours(seen([])) })]);
    expect(summaries(of)).toEqual([]);
    const stranger: Allowed = {
      hook: 'input',
      protocol: 'tcp',
      ports: [10_250, 10_250],
      from: '10.0.0.99',
      to: 'any',
      ours: true,
    };
    expect(summaries(seen([drops({ allowed: [...ours(of), stranger] })]))).toEqual([
      'close 10250/tcp in ufw (found open, no longer needed)',
    ]);
    expect(firewallClosed.diff(of).map(({ summary }) => summary)).toEqual([
      'close 10250/tcp, 10256/tcp, 8472/udp in ufw (found open, no longer needed)',
    ]);
  });
});

test('firewalld gets policies of their own for the host and for pods', async () => {
  const of = seen([
    drops({ kind: 'firewalld', place: 'public' }),
    drops({ kind: 'firewalld', place: 'public', hook: 'forward' }),
  ]);
  expect(summaries(of)).toEqual(['open 10250/tcp, 10256/tcp, 8472/udp, packets of pods in firewalld (found closed)']);
  const { on, sent } = recordingOn();
  await firewallOpen.diff(of)[0]!.apply!(on);
  expect(told(sent)).toContain('rule family="ipv4" source address="10.0.0.11" port port="10250" protocol="tcp" accept');
  expect(told(sent)).toContain('rule family="ipv4" destination address="10.244.0.0/16" accept');
});

describe('nftables', () => {
  const chain = (hook: 'input' | 'forward', allowed: readonly Allowed[] = []): Firewall =>
    drops({ kind: 'nftables', hook, place: `inet filter ${hook}`, allowed });

  test('rules lie in a file that a service puts into the chains', async () => {
    const of = seen([chain('input'), chain('forward')]);
    expect(summaries(of)).toEqual([
      `write ${paths.firewallRules} (found none)`,
      `write ${paths.firewallScript} (found none)`,
      `write ${paths.firewallUnit} (found none)`,
      'open 10250/tcp, 10256/tcp, 8472/udp, packets of pods in nftables (found closed)',
    ]);
    const { on, sent } = recordingOn();
    await firewallOpen.diff(of)[0]!.apply!(on);
    expect(told(sent)).toBe(`# Written by kbuild.
inet filter input 10.0.0.11 - tcp 10250,10256
inet filter input 10.0.0.22 - tcp 10256
inet filter input 10.0.0.11 - udp 8472
inet filter input 10.0.0.22 - udp 8472
inet filter input 10.244.0.0/16 - tcp 10250
inet filter forward 10.244.0.0/16 - - -
inet filter forward - 10.244.0.0/16 - -
`);
  });

  test('nothing of kbuild stays where nothing drops any more', () => {
    const of = target({ firewall: [], ownFiles: [paths.firewallUnit] }, { inventory: open, host: 'w1' });
    expect(summaries(of)).toEqual([`close in the packet filter what kbuild opened (found ${paths.firewallUnit})`]);
  });
});

describe('balancers', () => {
  const [cp, ...workers] = open.hosts as readonly LinuxHost[];
  const pair = workers.map((host): LinuxHost => ({ ...host, role: 'load-balancer' }));
  const loadBalancer = {
    kind: 'keepalived',
    address: '10.0.0.100',
    port: 8443,
    healthPort: 8404,
    routerId: 100,
  } as const;
  const balanced = inventory({ firewall: 'open', hosts: [cp!, ...pair], loadBalancer });

  test('accept VRRP from each other only', () => {
    const vrrp = (host: LinuxHost) => openings(balanced, host).filter(({ protocol }) => protocol === 'vrrp');
    expect(pair.map((host) => vrrp(host).map(({ from }) => from))).toEqual([['10.0.0.22'], ['10.0.0.21']]);
    expect(vrrp(cp!)).toEqual([]);
  });

  test('are opened for it in each firewall', async () => {
    const scripts = await Promise.all(
      (['ufw', 'firewalld', 'nftables'] as const).map(async (kind) => {
        const of = seen([drops({ kind, place: kind === 'nftables' ? 'inet filter input' : kind })], balanced);
        expect(summaries(of).at(-1)).toContain(`VRRP in ${kind} (found closed)`);
        const { on, sent } = recordingOn();
        for (const change of firewallOpen.diff(of)) await change.apply!(on);
        return told(sent);
      }),
    );
    expect(scripts[0]).toContain('10.0.0.22 vrrp 0');
    expect(scripts[1]).toContain('rule family="ipv4" source address="10.0.0.22" protocol value="vrrp" accept');
    expect(scripts[2]).toContain('inet filter input 10.0.0.22 - vrrp -\n');
  });
});
