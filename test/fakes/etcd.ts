import type { Event } from '../../src/engine/event.ts';
import { CommandError } from '../../src/errors.ts';
import type { DefragmentTools } from '../../src/etcd/defragment-health.step.ts';
import type { Host, LinuxHost } from '../../src/inventory/inventory.ts';
import { inventoryOf } from './cluster.ts';
import { recordingOn } from './on.ts';

const MIB = 1024 ** 2;

/** A member as a test sets it up; sizes in MiB. */
export interface FakeMember {
  readonly name: string;
  size: number;
  inUse: number;
  /** What is left in use once etcd is compacted. */
  compacted: number;
  quota: number;
  healthy: boolean;
  learner: boolean;
}

/** An etcd whose members do what kbuild's jobs ask of them. */
export interface FakeEtcd {
  readonly members: FakeMember[];
  leader: string;
  alarms: number[];
  /** What was done, e.g. `defragment cp2`. */
  readonly did: string[];
  /** Called before each job. */
  onJob: (job: string, host: string) => void;
}

/** A healthy etcd on these hosts, the first leads. */
export const fakeEtcd = (names: readonly string[], member: Partial<FakeMember> = {}): FakeEtcd => ({
  members: names.map((name) => ({
    name,
    size: 100,
    inUse: 20,
    compacted: 20,
    quota: 2048,
    healthy: true,
    learner: false,
    ...member,
  })),
  leader: names[0]!,
  alarms: [],
  did: [],
  onJob: () => undefined,
});

const ended = (host: string, stderr: string): CommandError =>
  new CommandError(host, 'etcd', { status: 1, stdout: '', stderr });

/** What etcd-view.sh prints of it. */
function viewText({ members, leader, alarms }: FakeEtcd): string {
  const id = (name: string): number => members.findIndex((member) => member.name === name) + 1;
  const url = (name: string): string => `https://${name}:2379`;
  const error = alarms.length === 0 ? '' : `,"error":"Active Alarm(s): ${alarms.map(() => 'NOSPACE ').join('')}"`;
  const json = (items: readonly object[]): string => JSON.stringify(items);
  return [
    `members ${JSON.stringify({
      members: members.map(({ name, learner }) => ({
        ID: id(name),
        name,
        peerURLs: [`https://${name}:2380`],
        clientURLs: [url(name)],
        ...(learner ? { isLearner: true } : {}),
      })),
    })}`,
    `health [${members
      .map(({ name, healthy }) =>
        healthy
          ? `{"endpoint":"${url(name)}","health":${String(alarms.length === 0)}${error}}`
          : `{"endpoint":"${url(name)}","health":false,"error":"context deadline exceeded"}`,
      )
      .join(',')}]`,
    `status ${json(
      members
        .filter(({ healthy }) => healthy)
        .map(({ name, size, inUse, quota }) => ({
          Endpoint: url(name),
          Status: {
            header: { member_id: id(name) },
            leader: id(leader),
            dbSize: size * MIB,
            dbSizeInUse: inUse * MIB,
            dbSizeQuota: quota * MIB,
          },
        })),
    )}`,
    `alarms ${JSON.stringify({ alarms: alarms.map((alarm) => ({ memberID: 1, alarm })) })}`,
  ].join('\n');
}

function work(etcd: FakeEtcd, job: string, { name }: Host): string {
  etcd.onJob(job, name);
  etcd.did.push(`${job.replace('etcd-', '')} ${name}`);
  const { members } = etcd;
  if (job === 'etcd-compact') for (const member of members) member.inUse = member.compacted;
  if (job === 'etcd-defragment') for (const member of members) if (member.name === name) member.size = member.inUse;
  if (job !== 'etcd-disarm') return '';
  etcd.alarms = [];
  if (members.some(({ size, quota }) => size >= quota)) throw ended(name, 'etcdserver: mvcc: database space exceeded');
  return '';
}

/** The tools of a run on this etcd. Its clock goes as fast as the run waits. */
export function defragmentTools(
  etcd: FakeEtcd,
  hosts: readonly LinuxHost[],
  more: Partial<DefragmentTools> = {},
): { readonly tools: DefragmentTools; readonly events: readonly Event[]; readonly sent: () => readonly string[] } {
  const events: Event[] = [];
  let nowMs = 0;
  const { on, sent } = recordingOn({
    run: (_, { name }) => {
      if (etcd.members.some((member) => member.name === name && member.healthy)) return viewText(etcd);
      throw ended(name, 'no etcd container runs');
    },
    job: (job, _, host) => work(etcd, job, host),
  });
  const tools: DefragmentTools = {
    inventory: inventoryOf({ hosts }),
    on,
    hosts,
    folderOf: () => '/var/lib/etcd',
    held: () => Promise.resolve(),
    emit: (event) => void events.push(event),
    waiting: {
      nowMs: () => nowMs,
      pause: (ms) => {
        nowMs += ms;
        return Promise.resolve();
      },
    },
    ...more,
  };
  return { tools, events, sent: () => sent.flatMap((one) => (one.kind === 'job' ? [one.script] : [])) };
}
