import { hostPort, loopbackOf } from '../inventory/addresses.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { flagIn, type JsonObject, objectOf, objectsOf, textIn, textsIn, within } from '../shell/decode.ts';
import { lineOf, lines, numberOf } from '../shell/probe.ts';
import { script, using } from '../templates.ts';

/**
 * A command on a host with a member of etcd. It may use the shell function `e NAME ARGUMENT…`, which runs etcdctl in
 * the running etcd's container; `"$@"` are the flags that lead etcdctl to the local member.
 */
export const withEtcd = (inventory: Inventory, host: Host, command: Command<'sh'>): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    using(script('cluster/etcd-tools.sh', { ETCD_AT: hostPort(loopbackOf(host.internalAddress), 2379) }), command),
  );

/** Members, health and status of a stacked etcd. If etcdctl fails, it still prints the part that it knows. */
export const etcdCommand = (inventory: Inventory, host: Host): Command<'sh'> =>
  withEtcd(inventory, host, script('cluster/etcd-view.sh'));

/**
 * The same without quorum: the members that the local member knows, and their answers. Does not probe health: etcd
 * reports it only with quorum.
 */
export const etcdAloneCommand = (inventory: Inventory, host: Host): Command<'sh'> =>
  withEtcd(inventory, host, script('cluster/etcd-view-alone.sh'));

/** Members and alarms as etcd reports them. */
export interface EtcdView {
  readonly members: readonly MemberView[];
  /** e.g. `NOSPACE on 8e9e05c52164694d` */
  readonly alarms: readonly string[];
}

/** Member ids are uint64: numbers of 16 digits and more become strings before JSON loses their end. */
const withLongNumbers = (json: string): unknown => JSON.parse(json.replaceAll(/("\s*:\s*)(\d{16,})/g, '$1"$2"'));

/** A member's id in hexadecimal, as etcd's tools print it. Throws if it is not a number. */
function hex(id: unknown): string {
  if (typeof id !== 'string' && typeof id !== 'number')
    throw new Error('unexpected output: a member of etcd without an id');
  return BigInt(id).toString(16);
}

/**
 * True for a member that answers a linearizable read. etcdctl calls every member unhealthy while any of them has an
 * alarm (etcdctl/ctlv3/command/ep_command.go); under NOSPACE members still serve reads and keep their quorum, and
 * `alarms` reports it.
 */
const isWell = ({ health, error }: JsonObject): boolean =>
  health === true || /^Active Alarm\(s\):( NOSPACE)+$/.test(textIn(error, '').trimEnd());

/** etcd's AlarmType by number or name. An unknown alarm must not pass for NOSPACE, because kbuild disarms NOSPACE. */
const alarmName = (alarm: unknown): string =>
  alarm === 1
    ? 'NOSPACE'
    : alarm === 2
      ? 'CORRUPT'
      : typeof alarm === 'string' || typeof alarm === 'number'
        ? lineOf(String(alarm))
        : 'unknown';

/** A size that a member reported, as a number or a text; undefined if it reported none. */
const sizeOf = (size: unknown): number | undefined =>
  size === undefined ? undefined : typeof size === 'number' ? numberOf(String(size)) : numberOf(textIn(size));

/** The status that a member reported. */
function statusOf(object: JsonObject) {
  const status = within(object, 'Status');
  const [inUse, quota] = [sizeOf(status['dbSizeInUse']), sizeOf(status['dbSizeQuota'])];
  return {
    endpoint: textIn(object['Endpoint']),
    id: hex(within(status, 'header')['member_id']),
    leader: status['leader'] === undefined ? undefined : hex(status['leader']),
    dbSize: sizeOf(status['dbSize']) ?? 0,
    told: {
      ...(inUse === undefined ? {} : { dbSizeInUse: inUse }),
      ...(quota === undefined ? {} : { dbSizeQuota: quota }),
      ...(status['version'] === undefined ? {} : { version: lineOf(textIn(status['version'])) }),
    },
  };
}

/**
 * Parses the output of `etcdCommand` or `etcdAloneCommand`. If the output has no health, every member that answers
 * counts as healthy. Throws on other output.
 */
export function parseEtcd(out: string): EtcdView {
  const answers = new Map(
    lines(out).map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  if (!answers.has('alarms') || answers.get('alarms') === '') throw new Error('etcd did not report its alarms');
  const answer = (name: string): unknown => {
    const text = answers.get(name)?.trim() ?? '';
    return text === '' ? undefined : withLongNumbers(text);
  };
  const told = objectOf(answer('members') ?? {})['members'];
  if (told === undefined) throw new Error('etcd did not report its members');
  const status = objectsOf(answer('status')).map(statusOf);
  const healthy = new Set(
    answers.has('health')
      ? objectsOf(answer('health'))
          .filter(isWell)
          .map(({ endpoint }) => textIn(endpoint))
      : status.map(({ endpoint }) => endpoint),
  );
  const byId = new Map(status.map((each) => [each.id, each]));
  return {
    members: objectsOf(told).map((member) => {
      const id = hex(member['ID']);
      const its = byId.get(id);
      const learner = flagIn(member['isLearner']);
      return {
        id,
        name: textIn(member['name'], ''),
        peerUrl: textsIn(member['peerURLs'])[0] ?? '',
        learner,
        // A learner does not report its health, only its status.
        healthy: textsIn(member['clientURLs']).some((url) => healthy.has(url)) || (learner && its !== undefined),
        leader: its?.leader === id,
        dbSize: its?.dbSize ?? 0,
        ...its?.told,
      };
    }),
    alarms: objectsOf(within(answer('alarms'))['alarms']).map(
      ({ memberID, alarm }) => `${alarmName(alarm)} on ${hex(memberID ?? 0)}`,
    ),
  };
}

/** A member of etcd. Ids are hexadecimal, because JSON numbers lose digits. */
export interface MemberView {
  readonly id: string;
  /** Empty while the member has not started. */
  readonly name: string;
  readonly peerUrl: string;
  readonly learner: boolean;
  readonly healthy: boolean;
  readonly leader: boolean;
  /** Bytes of its database, free pages included; 0 when unknown because the member did not answer. */
  readonly dbSize: number;
  /** Bytes of it that hold data; missing when unknown because the member did not answer. */
  readonly dbSizeInUse?: number;
  /**
   * The quota of the database in bytes (`--quota-backend-bytes`); negative if there is no limit; missing if the member
   * did not report it.
   */
  readonly dbSizeQuota?: number;
  /** Version of its server, e.g. `3.6.8`; missing when unknown because the member did not answer. */
  readonly version?: string;
}
