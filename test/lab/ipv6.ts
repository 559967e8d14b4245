/** IPv6 addresses of the lab's hosts, for tests that want them: others have IPv4 alone. They last until the host boots again. */
import { expect } from 'vitest';
import { hostSettings } from './host-settings.ts';
import { dial, type EchoPod, kubectl, startEcho } from './pods.ts';
import { inside } from './ssh.ts';
import { waitUntil } from './wait-until.ts';

const PATIENCE_MS = 180_000;

/** The IPv6 address of a host, with the last octet of its IPv4 addresses. */
export const ipv6Of = (name: string): string => `fd00:77::${hostSettings(name).octet.toString(16)}`;

/** Gives hosts their IPv6 address on eth0, and a default route, without which the kernel takes no connection to an address of a Service. */
export async function giveIpv6(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { code, stderr } = await inside(
      name,
      `ip -6 addr add ${ipv6Of(name)}/64 dev eth0 nodad && ip -6 route add default via fd00:77::ffff dev eth0`,
    );
    if (code !== 0) throw new Error(`${name}: ${stderr}`);
  }
}

/** The addresses by which a cluster's node is known, the primary one first. */
export const nodeAddresses = async (cp: string, name: string): Promise<readonly string[]> =>
  (await kubectl(cp, `get node ${name} -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'`)).split(' ');

/** A pod reaches one on another node at each of its addresses, and through a Service at each of that one's. Returns whether each is of IPv6. */
export async function reachedAt(cp: string, policy: 'SingleStack' | 'RequireDualStack'): Promise<readonly boolean[]> {
  const [from, to] = (await startEcho(cp, 'echo')) as readonly [EchoPod, EchoPod];
  await kubectl(cp, `-n echo patch service echo --type merge -p '{"spec":{"ipFamilyPolicy":"${policy}"}}'`);
  const listed = async (what: string): Promise<readonly string[]> =>
    (await kubectl(cp, `-n echo get ${what}`)).split(' ');
  const services = await listed(`service echo -o 'jsonpath={.spec.clusterIPs[*]}'`);
  const pods = await listed(`pod ${to.name} -o 'jsonpath={.status.podIPs[*].ip}'`);
  // More than a packet holds: those that fill the MTU must come through the tunnel of each family.
  const large = 'x'.repeat(5000);
  for (const address of pods) {
    expect(await dial(cp, 'echo', from, address), address).toBe(to.name);
    expect(await dial(cp, 'echo', from, address, undefined, `echo?msg=${large}`), address).toBe(large);
  }
  for (const address of services)
    await waitUntil(`the other pod answers at ${address}`, PATIENCE_MS, async () =>
      (await dial(cp, 'echo', from, address, 80)) === to.name ? true : undefined,
    );
  expect(services.map((one) => one.includes(':'))).toEqual(pods.map((one) => one.includes(':')));
  return pods.map((one) => one.includes(':'));
}

/** What a reset host still has of a network of pods, in either family; empty: nothing. */
export const leftOfPods = async (name: string): Promise<string> =>
  (
    await inside(
      name,
      '{ ip -o link; ip route; ip -6 route; iptables-save; ip6tables-save; } | grep -E "flannel|cni0|KUBE-|FLANNEL|10.244|fd00:10:" || true',
    )
  ).stdout;
