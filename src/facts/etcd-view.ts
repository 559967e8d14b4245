import type { MemberView } from './cluster.ts';
import { lines } from './probe.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';

/**
 * The shell function `e NAME ARGUMENT…` runs etcdctl in the running etcd's container, from its own image (which has no
 * shell); `"$@"` are the flags that lead it to the local member. Without crictl, containerd's own client is used.
 */
const tools = sh`e() {
  name=$1; shift
  if command -v crictl >/dev/null; then crictl -r unix:///run/containerd/containerd.sock exec -s "$id" "$@"
  else ctr -n k8s.io tasks exec --exec-id "kbuild-$$-$name" "$id" "$@"; fi
}
# A list takes milliseconds: a runtime that does not give one hangs.
id=
if command -v crictl >/dev/null; then
  id=$(timeout 5 crictl -r unix:///run/containerd/containerd.sock ps -q --name '^etcd$' --state Running | head -n 1)
else
  running=$(timeout 5 ctr -n k8s.io tasks ls | awk '$3 == "RUNNING" { print $1 }')
  for each in $(timeout 5 ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==etcd'); do
    if echo "$running" | grep -qx "$each"; then id=$each; fi
  done
fi
if [ -z "$id" ]; then echo 'no etcd container runs, or the runtime does not answer' >&2; exit 1; fi
pki=/etc/kubernetes/pki/etcd
set -- etcdctl --endpoints https://127.0.0.1:2379 --cacert $pki/ca.crt --cert $pki/server.crt --key $pki/server.key --command-timeout 5s`;

/** A command on a control plane that may call `e` with `"$@"`, which stand for etcdctl and its flags. */
export const withEtcd = (command: Command<'sh'>): Command<'sh'> => ({
  ...command,
  script: `${tools.script}\n${command.script}`,
});

/** Members, health and status of a stacked etcd. An etcdctl that fails says what it knows all the same. */
export const etcdCommand = withEtcd(sh`t=$(mktemp -d -p /run); trap 'rm -rf "$t"' EXIT
# A runtime under load loses what a short process said: a success without a word is asked again.
q() {
  answer=$1; shift
  for try in 1 2 3; do
    e "$answer$try" "$@" >"$t/$answer" || return
    if [ -s "$t/$answer" ]; then return; fi
  done
}
q members "$@" -w json member list &
members=$!
q health "$@" -w json endpoint health --cluster &
q status "$@" -w json endpoint status --cluster &
q alarms "$@" -w json alarm list &
wait "$members"
wait
for answer in members health status alarms; do echo "$answer $(cat "$t/$answer")"; done`);

/**
 * The same without quorum: who is a member as the local one knows it, and who answers. Nobody is asked for `health`, which
 * etcd tells only with quorum.
 */
export const etcdAloneCommand = withEtcd(sh`t=$(mktemp -d -p /run); trap 'rm -rf "$t"' EXIT
e m "$@" -w json member list --consistency=s >"$t/members"
all=$(grep -o '"clientURLs":[[]"[^"]*' "$t/members" | sed 's/.*"//' | paste -sd, -)
shift 3
e s etcdctl --endpoints "$all" "$@" -w json endpoint status >"$t/status" || true
echo "members $(cat "$t/members")"; echo "status $(cat "$t/status")"; echo 'alarms {}'`);

/** What etcd says about itself. */
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
  };
}

/** Member ids are uint64: numbers of 16 digits and more become strings before JSON loses their end. */
const withLongNumbers = (json: string): unknown => JSON.parse(json.replaceAll(/("\s*:\s*)(\d{16,})/g, '$1"$2"'));

const hex = (id: string | number): string => BigInt(id).toString(16);

/** etcd's answers; where health was not asked for, whoever answers counts as healthy. Throws on output that it does not understand. */
export function parseEtcd(out: string): EtcdView {
  const answers = new Map(
    lines(out).map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  if (!answers.has('alarms') || answers.get('alarms') === '') throw new Error('etcd did not tell its alarms');
  const answer = (name: string): unknown => {
    const text = answers.get(name)?.trim() ?? '';
    return text === '' ? undefined : withLongNumbers(text);
  };
  const { members } = (answer('members') ?? {}) as { readonly members?: readonly RawMember[] };
  if (members === undefined) throw new Error('etcd did not tell its members');
  const health = (answer('health') ?? []) as readonly { readonly endpoint: string; readonly health: boolean }[];
  const status = (answer('status') ?? []) as readonly RawStatus[];
  const healthy = new Set(
    answers.has('health')
      ? health.filter((one) => one.health).map(({ endpoint }) => endpoint)
      : status.map(({ Endpoint }) => Endpoint),
  );
  const byId = new Map(status.map(({ Status }) => [hex(Status.header.member_id), Status]));
  const { alarms = [] } = (answer('alarms') ?? {}) as {
    readonly alarms?: readonly { readonly memberID?: string; readonly alarm?: number }[];
  };
  return {
    members: members.map((member) => {
      const id = hex(member.ID);
      const its = byId.get(id);
      return {
        id,
        name: member.name ?? '',
        peerUrl: member.peerURLs?.[0] ?? '',
        learner: member.isLearner === true,
        // A learner answers no question of health, but it tells its status.
        healthy:
          (member.clientURLs ?? []).some((url) => healthy.has(url)) || (member.isLearner === true && its !== undefined),
        leader: its?.leader !== undefined && hex(its.leader) === id,
        dbSize: Number(its?.dbSize ?? 0),
      };
    }),
    // etcd's AlarmType: 1 NOSPACE, 2 CORRUPT
    alarms: alarms.map(({ memberID, alarm }) => `${alarm === 2 ? 'CORRUPT' : 'NOSPACE'} on ${hex(memberID ?? 0)}`),
  };
}
