import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { etcdAloneCommand, parseEtcd } from '../../src/etcd/view.facts.ts';
import { inventoryOf } from '../fakes/cluster.ts';

// Answers of etcdctl 3.6.8 of three members, of which one does not answer and one is a learner that has not started.
const out = `members {"header":{"cluster_id":14841639068965178418,"member_id":10276657743932975437,"raft_term":4},"members":[{"ID":10276657743932975437,"name":"cp1","peerURLs":["https://10.0.0.11:2380"],"clientURLs":["https://10.0.0.11:2379"]},{"ID":18249187646912138824,"name":"cp2","peerURLs":["https://10.0.0.12:2380"],"clientURLs":["https://10.0.0.12:2379"]},{"ID":1,"peerURLs":["https://10.0.0.13:2380"],"isLearner":true}]}
health [{"endpoint":"https://10.0.0.11:2379","health":true,"took":"9.1ms"},{"endpoint":"https://10.0.0.12:2379","health":false,"took":"5s","error":"context deadline exceeded"}]
status [{"Endpoint":"https://10.0.0.11:2379","Status":{"header":{"cluster_id":14841639068965178418,"member_id":10276657743932975437,"revision":9,"raft_term":4},"version":"3.6.8","dbSize":1298432,"leader":10276657743932975437}}]
alarms {"header":{"cluster_id":14841639068965178418},"alarms":[{"memberID":10276657743932975437,"alarm":1}]}
`;

test('ids keep all their digits, and who does not answer is not healthy', () => {
  expect(parseEtcd(out)).toEqual({
    members: [
      {
        id: '8e9e05c52164694d',
        name: 'cp1',
        peerUrl: 'https://10.0.0.11:2380',
        learner: false,
        healthy: true,
        leader: true,
        dbSize: 1_298_432,
        version: '3.6.8',
      },
      {
        id: 'fd422379fda50e48',
        name: 'cp2',
        peerUrl: 'https://10.0.0.12:2380',
        learner: false,
        healthy: false,
        leader: false,
        dbSize: 0,
      },
      { id: '1', name: '', peerUrl: 'https://10.0.0.13:2380', learner: true, healthy: false, leader: false, dbSize: 0 },
    ],
    alarms: ['NOSPACE on 8e9e05c52164694d'],
  });
});

describe('under the alarm NOSPACE', () => {
  // etcdctl 3.6.8 calls every member unhealthy while one of them has an alarm.
  const under = (error: string, alarm: string): string =>
    [
      out.split('\n')[0],
      `health [{"endpoint":"https://10.0.0.11:2379","health":false,"took":"2ms","error":"${error}"}]`,
      `alarms {"alarms":[{"memberID":10276657743932975437,"alarm":${alarm}}]}`,
      'status []',
    ].join('\n');
  const healthOf = (text: string) => parseEtcd(text).members[0]?.healthy;

  test('a member that answers is healthy: the alarm stands beside it', () => {
    expect(healthOf(under('Active Alarm(s): NOSPACE ', '1'))).toBe(true);
    expect(healthOf(under('Active Alarm(s): NOSPACE NOSPACE ', '1'))).toBe(true);
  });

  test('a member whose data differs, or that does not answer, is not healthy', () => {
    expect(healthOf(under('Active Alarm(s): NOSPACE CORRUPT ', '2'))).toBe(false);
    expect(healthOf(under('context deadline exceeded', '1'))).toBe(false);
  });

  test('an alarm of another kind does not pass for NOSPACE', () => {
    expect(['1', '2', '3', '"CORRUPT"'].map((alarm) => parseEtcd(under('', alarm)).alarms[0])).toEqual([
      'NOSPACE on 8e9e05c52164694d',
      'CORRUPT on 8e9e05c52164694d',
      '3 on 8e9e05c52164694d',
      'CORRUPT on 8e9e05c52164694d',
    ]);
  });
});

test('sizes and quota are those that the member told', () => {
  const told = out.replace('"dbSize":1298432', '"dbSize":1298432,"dbSizeInUse":1048576,"dbSizeQuota":2147483648');
  expect(parseEtcd(told).members.map(({ dbSizeInUse, dbSizeQuota }) => [dbSizeInUse, dbSizeQuota])).toEqual([
    [1_048_576, 2_147_483_648],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

test('an etcd that says nothing is an error, not an empty one', () => {
  expect(() => parseEtcd('members \nhealth \nstatus \nalarms \n')).toThrow('etcd did not report its alarms');
  expect(() => parseEtcd('members \nhealth \nstatus \nalarms {}\n')).toThrow('etcd did not report its members');
});

test('without quorum the status shows which members answer, since health needs quorum', () => {
  const alone = out.split('\n').filter((line) => !/^(?:health|alarms)/.test(line));
  const { members } = parseEtcd([...alone, 'alarms {}'].join('\n'));
  expect(members.map(({ name, healthy }) => [name, healthy])).toEqual([
    ['cp1', true],
    ['cp2', false],
    ['', false],
  ]);
});

test('the command that works without quorum asks every member for its status, by the addresses that the local one knows', () => {
  const members = out.split('\n')[0]!.slice('members '.length);
  const tools = `command() { false; }; timeout() { while [ "$1" != ctr ]; do shift; done; "$@"; }; ctr() { case "$*" in 'containers ls'*|*'containers ls'*) echo id ;; *'tasks ls') echo 'id 1 RUNNING' ;; *'member list'*) echo '${members}' ;; *) echo "asked $*" ;; esac; }`;
  const said = execFileSync(
    '/bin/sh',
    [
      '-c',
      `set -eu\n${tools}\n${etcdAloneCommand(inventoryOf(), inventoryOf().hosts[0]!).script.replace('-p /run', '')}`,
    ],
    {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    },
  );
  expect(said).toContain(`members ${members}\n`);
  expect(said).toMatch(
    /^status asked .* etcdctl --endpoints https:\/\/10\.0\.0\.11:2379,https:\/\/10\.0\.0\.12:2379 --cacert .* endpoint status$/m,
  );
});
