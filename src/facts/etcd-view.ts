import type { MemberView } from './cluster.ts';
import { objectOf, objectsOf, textIn } from './decode.ts';
import { lineOf, lines, numberOf } from '../shell/probe.ts';
import type { Command } from '../shell/command.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { withRuntime } from '../components/runtimes/index.ts';
import { script, using } from '../templates.ts';

/**
 * A command on a host with a member of etcd. It may use the shell function `e NAME ARGUMENT…`, which runs etcdctl in the
 * running etcd's container; `"$@"` are the flags that lead etcdctl to the local member.
 */
export const withEtcd = (inventory: Inventory, host: Host, command: Command<'sh'>): Command<'sh'> =>
  withRuntime(inventory, host, using('linux/etcd-tools.sh', command));

/** Members, health and status of a stacked etcd. An etcdctl that fails still prints the part that it knows. */
export const etcdCommand = (inventory: Inventory, host: Host): Command<'sh'> =>
  withEtcd(inventory, host, script('linux/etcd-view.sh'));

/**
 * The same without quorum: the members that the local member knows, and those that answer. Health is not probed: etcd
 * reports it only with quorum.
 */
export const etcdAloneCommand = (inventory: Inventory, host: Host): Command<'sh'> =>
  withEtcd(inventory, host, script('linux/etcd-view-alone.sh'));

/** Members and alarms as etcd reports them. */
export interface EtcdView {
  readonly members: readonly MemberView[];
  /** e.g. `NOSPACE on 8e9e05c52164694d` */
  readonly alarms: readonly string[];
}

interface RawMember {
  readonly ID: string;
  readonly name?: string;
  readonly peerURLs?: readonly string[];
  readonly clientURLs?: readonly string[];
  readonly isLearner?: boolean;
}

interface RawStatus {
  readonly Endpoint: string;
  readonly Status: {
    readonly header: { readonly member_id: string };
    readonly leader?: string;
    readonly dbSize?: string | number;
    readonly dbSizeInUse?: string | number;
    readonly dbSizeQuota?: string | number;
    readonly version?: string;
  };
}

/** Member ids are uint64: numbers of 16 digits and more become strings before JSON loses their end. */
const withLongNumbers = (json: string): unknown => JSON.parse(json.replaceAll(/("\s*:\s*)(\d{16,})/g, '$1"$2"'));

const hex = (id: string | number): string => BigInt(id).toString(16);

interface RawHealth {
  readonly endpoint: string;
  readonly health: unknown;
  readonly error?: string;
}

/**
 * True for a member that answers a linearizable read. etcdctl calls every member unhealthy while any of them has an alarm
 * (etcdctl/ctlv3/command/ep_command.go); under NOSPACE, of which `alarms` tells, members serve reads and hold their quorum.
 */
const isWell = ({ health, error = '' }: RawHealth): boolean =>
  health === true || /^Active Alarm\(s\):( NOSPACE)+\s*$/.test(error);

/** etcd's AlarmType by number or name. One that kbuild does not know must not pass for NOSPACE, which kbuild disarms. */
const alarmName = (alarm: number | string | undefined): string =>
  alarm === 1 ? 'NOSPACE' : alarm === 2 ? 'CORRUPT' : String(alarm ?? 'unknown');

/** A size that a member told, as a field; none if it did not. */
const sized = <K extends string>(name: K, size: string | number | undefined): { readonly [P in K]?: number } =>
  size === undefined ? {} : ({ [name]: numberOf(String(size)) } as { readonly [P in K]: number });

/** Parses what `etcdCommand` or `etcdAloneCommand` printed; without health every member that answers counts as healthy. Throws on other output. */
export function parseEtcd(out: string): EtcdView {
  const answers = new Map(
    lines(out).map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  if (!answers.has('alarms') || answers.get('alarms') === '') throw new Error('etcd did not tell its alarms');
  const answer = (name: string): unknown => {
    const text = answers.get(name)?.trim() ?? '';
    return text === '' ? undefined : withLongNumbers(text);
  };
  const told = objectOf(answer('members') ?? {})['members'];
  if (told === undefined) throw new Error('etcd did not tell its members');
  const members = objectsOf(told) as readonly unknown[] as readonly RawMember[];
  const health = objectsOf(answer('health')) as readonly unknown[] as readonly RawHealth[];
  const status = objectsOf(answer('status')) as readonly unknown[] as readonly RawStatus[];
  const healthy = new Set(
    answers.has('health')
      ? health.filter(isWell).map(({ endpoint }) => endpoint)
      : status.map(({ Endpoint }) => Endpoint),
  );
  const byId = new Map(status.map(({ Status }) => [hex(Status.header.member_id), Status]));
  const { alarms = [] } = (answer('alarms') ?? {}) as {
    readonly alarms?: readonly { readonly memberID?: string; readonly alarm?: number | string }[];
  };
  return {
    members: members.map((member) => {
      const id = hex(member.ID);
      const its = byId.get(id);
      return {
        id,
        name: textIn(member.name, ''),
        peerUrl: textIn(member.peerURLs?.[0], ''),
        learner: member.isLearner === true,
        // A learner does not report its health, only its status.
        healthy:
          (member.clientURLs ?? []).some((url) => healthy.has(url)) || (member.isLearner === true && its !== undefined),
        leader: its?.leader !== undefined && hex(its.leader) === id,
        dbSize: numberOf(String(its?.dbSize ?? 0)),
        ...sized('dbSizeInUse', its?.dbSizeInUse),
        ...sized('dbSizeQuota', its?.dbSizeQuota),
        ...(its?.version === undefined ? {} : { version: lineOf(textIn(its.version)) }),
      };
    }),
    alarms: alarms.map(({ memberID, alarm }) => `${alarmName(alarm)} on ${hex(memberID ?? 0)}`),
  };
}
