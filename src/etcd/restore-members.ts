import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { Refused } from '../errors.ts';
import { hostPort } from '../inventory/addresses.ts';
import { apiPort } from '../inventory/api-server.ts';
import { controlPlanes, etcdHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { objectOf, textIn, textsIn } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { On, Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { etcdAloneCommand, type MemberView, parseEtcd } from './view.facts.ts';

/** The port of etcd's members, as kubeadm sets it. */
const PEER_PORT = 2380;

/** An etcd member that a restore does not restore. */
export interface OtherMember {
  readonly name: string;
  /** Its peer URL; empty if unknown. */
  readonly peerUrl: string;
  /**
   * `healthy`: etcd reports it; `runs`: the etcd of a restored host reports it, or a process listens at its peer
   * address; `silent`: neither.
   */
  readonly state: 'healthy' | 'runs' | 'silent';
}

type Known = Pick<MemberView, 'name' | 'peerUrl' | 'healthy'>;

/**
 * Members that etcd's data names, including removed ones: kbuild only probes them, so a removed member does no harm.
 */
export function membersInData(text: string): readonly Known[] {
  return text.split('\n').flatMap((line) => {
    try {
      const { name, peerURLs } = objectOf(JSON.parse(line));
      return [{ name: textIn(name, ''), peerUrl: textsIn(peerURLs)[0] ?? '', healthy: false }];
    } catch {
      return [];
    }
  });
}

/** The members that a host knows: from its running etcd, or else from its data folder. */
async function knownBy(inventory: Inventory, remote: Remote<'sh'>, folder: string): Promise<readonly Known[]> {
  try {
    return parseEtcd(await remote.run(etcdAloneCommand(inventory, remote.host))).members;
  } catch {
    // etcd does not run on the host, or does not answer.
  }
  return membersInData(await remote.run(script('etcd/etcd-members-in-data.sh', { DB: `${folder}/member/snap/db` })));
}

/** True if a process listens there as one of these hosts sees it. A single host may be cut off from that address. */
async function isHeard(on: On, hosts: readonly LinuxHost[], address: string, port: string): Promise<boolean> {
  const heard = await Promise.all(hosts.map((host) => listensAt(on(host), address, port)));
  return heard.includes(true);
}

/** True if a process listens at a member's peer URL. */
async function listens(on: On, hosts: readonly LinuxHost[], peerUrl: string): Promise<boolean> {
  if (peerUrl === '') return false;
  const { hostname, port } = new URL(peerUrl);
  return isHeard(on, hosts, hostname.replace(/^\[|\]$/g, ''), port);
}

/** True if a process listens at an address and port, as a host sees it within 3 s. */
export async function listensAt(remote: Remote<'sh'>, address: string, port: string): Promise<boolean> {
  const output = await remote.run(
    sh`if timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' ${address} ${port} 2>/dev/null; then echo listens; else echo silent; fi`,
  );
  return output.trim() === 'listens';
}

/**
 * The etcd members that the restore leaves out: from etcd if it answers, else from the hosts that are restored. Throws
 * if a host cannot be read.
 */
export async function otherMembers(
  on: On,
  inventory: Inventory,
  fleet: Fleet,
  restored: readonly LinuxHost[],
): Promise<readonly OtherMember[]> {
  const { cluster } = fleet;
  const live = cluster.etcd?.state === 'up' ? cluster.etcd : cluster.state === 'up' ? cluster : undefined;
  const known: readonly Known[] =
    live?.members ??
    (
      await Promise.all(restored.map((host) => knownBy(inventory, on(host), linuxFacts(fleet, host)?.etcdFolder ?? '')))
    ).flat();
  const names = new Set(restored.map(({ name }) => name));
  const others = new Map(
    known.filter(({ name }) => name !== '' && !names.has(name)).map((member) => [member.name, member]),
  );
  return Promise.all(
    [...others.values()]
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(async ({ name, peerUrl, healthy }): Promise<OtherMember> => {
        if (healthy) return { name, peerUrl, state: live === undefined ? 'runs' : 'healthy' };
        return { name, peerUrl, state: (await listens(on, restored, peerUrl)) ? 'runs' : 'silent' };
      }),
  );
}

/**
 * The reason why a restore may not leave these members out; undefined if it may. A running member would continue with
 * its old data behind the same endpoint. The operator must declare silent members dead. `command`: this run's command
 * with more hosts in `--dead`.
 */
export function otherMembersRefusal(
  others: readonly OtherMember[],
  dead: readonly string[],
  command: (names: readonly string[]) => string,
): Refused | undefined {
  const namesOf = (list: readonly OtherMember[]): string => list.map(({ name }) => name).join(', ');
  const running = others.filter(({ state }) => state !== 'silent');
  if (running.length > 0)
    return new Refused(
      'member-left-out',
      namesOf(running),
      'etcd runs there ' +
        `(${running.map(({ name, peerUrl, state }) => `${name} at ${peerUrl}: ${state}`).join('; ')}), and the ` +
        `restore would leave ${running.length === 1 ? 'it' : 'them'} out: ${running.length === 1 ? 'it' : 'they'} ` +
        'would continue with the present data behind the same endpoint',
      `name ${running.length === 1 ? 'it' : 'them'} in the inventory, so that all members are restored together; ` +
        `or switch ${running.length === 1 ? 'it' : 'them'} off for good, and run ` +
        `\`${command(running.map(({ name }) => name))}\``,
    );
  const missing = others.filter(({ name }) => !dead.includes(name));
  if (missing.length === 0) return undefined;
  return new Refused(
    'member-left-out',
    namesOf(missing),
    `etcd has ${missing.length === 1 ? 'this member' : 'these members'} beside the restored ones, and ` +
      `${missing.length === 1 ? 'it does' : 'they do'} not answer`,
    `if ${missing.length === 1 ? 'it is' : 'they are'} gone for good: \`${command(missing.map(({ name }) => name))}\``,
  );
}

/** A host of the inventory that a restore leaves out although a process answers at its ports. */
interface LivingHost {
  readonly name: string;
  /** `ADDRESS:PORT`, each. */
  readonly at: readonly string[];
}

/**
 * The control planes and etcd hosts of the inventory that are not restored and at whose ports of etcd's members and of
 * the API something listens, as the restored hosts see it. etcd's list of members may be lost with its data, so kbuild
 * probes these hosts whether or not that list names them.
 */
export async function livingHosts(
  on: On,
  inventory: Inventory,
  restored: readonly LinuxHost[],
): Promise<readonly LivingHost[]> {
  const names = new Set(restored.map(({ name }) => name));
  const others = [...controlPlanes(inventory), ...etcdHosts(inventory)].filter(({ name }) => !names.has(name));
  const ports = (host: LinuxHost): readonly number[] => [
    ...(host.role === 'etcd' || inventory.etcd.topology === 'stacked' ? [PEER_PORT] : []),
    ...(host.role === 'control-plane' ? [apiPort(inventory)] : []),
  ];
  const found = await Promise.all(
    others.map(async (host): Promise<LivingHost> => {
      const places = [...new Set([host.internalAddress, host.address])].flatMap((address) =>
        ports(host).map((port) => ({ address, port: String(port) })),
      );
      const heard = await Promise.all(places.map(({ address, port }) => isHeard(on, restored, address, port)));
      return {
        name: host.name,
        at: places.filter((_, i) => heard[i]).map(({ address, port }) => hostPort(address, port)),
      };
    }),
  );
  return found.filter(({ at }) => at.length > 0);
}

/**
 * The reason why a restore may not leave these hosts out; undefined if there are none. `command`: this run's command
 * with these hosts in `--dead`.
 */
export function livingHostsRefusal(
  living: readonly LivingHost[],
  command: (names: readonly string[]) => string,
): Refused | undefined {
  if (living.length === 0) return undefined;
  const names = living.map(({ name }) => name);
  const them = names.length === 1 ? 'it' : 'them';
  return new Refused(
    'member-left-out',
    names.join(', '),
    `something answers there (${living.flatMap(({ at }) => at).join(', ')}), and the restore would leave ${them} ` +
      'out: a running control plane or member of etcd would continue with the present data behind the same endpoint',
    `make ${names.join(', ')} reachable by SSH, so that all are restored together; or switch ${them} off for ` +
      `good, and run \`${command(names)}\``,
  );
}
