import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event, TimedEvent } from '../../src/engine/event.ts';
import { logFile } from '../../src/report/files.ts';
import { jsonDocument, jsonReporter } from '../../src/report/json.ts';
import { commandLine, lineReporter } from '../../src/report/lines.ts';
import { clusterStatus } from '../../src/report/status-view.ts';
import { statusText } from '../../src/report/status.ts';
import { clusterOf } from '../fakes/cluster.ts';
import { faultsOf } from '../tools/documents.ts';

const time = '2026-11-21T16:50:45.000Z';
const place = { phase: 'init', host: 'cp1', step: 'kubeadm-init' };
const EVENTS: readonly Event[] = [
  { kind: 'connecting', hosts: ['cp1', 'w1'] },
  { kind: 'unreachable', host: 'w1', message: 'w1: no answer' },
  { kind: 'observed', hosts: 1, durationMs: 400 },
  { kind: 'locked', hosts: 1 },
  { kind: 'phase-started', phase: 'init', title: 'Initialize the cluster', hosts: ['cp1'] },
  { kind: 'host-started', phase: 'init', host: 'cp1' },
  { kind: 'changing', ...place, summary: 'create the cluster' },
  { kind: 'changed', ...place, summary: 'create the cluster', durationMs: 9200 },
  { kind: 'unplanned', ...place, summary: 'restart containerd' },
  { kind: 'settling', ...place, summary: 'wait until cp1 is Ready', waitedMs: 20_000 },
  { kind: 'job-followed', host: 'cp1', summary: 'waiting for the job packages' },
  { kind: 'job-waits', host: 'cp1', summary: '/var/lib/dpkg/lock-frontend is held by process 812 (apt-get)' },
  { kind: 'noted', host: 'cp1', summary: "etcd's data is kept in /home/op/undone.db" },
  { kind: 'failed', ...place, summary: 'cp1: status 1', exitCode: 4 },
  { kind: 'host-done', phase: 'init', host: 'cp1', changes: 1, durationMs: 9300 },
  { kind: 'phase-done', phase: 'init', changes: 1, durationMs: 9300 },
  { kind: 'interrupted', summary: 'interrupted' },
  { kind: 'done', changes: 1, failed: [], durationMs: 46_600 },
  { kind: 'done', changes: 2, failed: ['w1'], durationMs: 46_600 },
];
const timed = EVENTS.map((event): TimedEvent => ({ time, ...event }));

function collected(): { readonly write: (text: string) => void; readonly text: () => string } {
  let all = '';
  return { write: (text) => void (all += text), text: () => all };
}

test('lines: a host that does not answer five times is named once', () => {
  const { write, text } = collected();
  const reporter = lineReporter(write);
  for (const host of ['w1', 'w1', 'w1', 'w1', 'w1', 'w2'])
    reporter.report({ time, kind: 'unreachable', host, message: `${host}: no answer` });
  reporter.report({ time, kind: 'observed', hosts: 1, durationMs: 400 });
  expect(text()).toBe('16:50:45 observed 1 host in 0.4 s; no answer from w1, w2\n');
});

test('lines: one an event that people care about, with the time of day', () => {
  const { write, text } = collected();
  const reporter = lineReporter(write);
  for (const event of timed) reporter.report(event);
  expect(text()).toMatchInlineSnapshot(`
    "16:50:45 connecting to 2 hosts
    16:50:45 observed 1 host in 0.4 s; no answer from w1
    16:50:45 locked 1 host
    16:50:45 == Initialize the cluster (cp1)
    16:50:45 cp1: create the cluster …
    16:50:45 cp1: create the cluster: done in 9.2 s
    16:50:45 cp1: not in the plan: restart containerd
    16:50:45 cp1: waiting for 20 s: wait until cp1 is Ready
    16:50:45 cp1: waiting for the job packages
    16:50:45 cp1: waiting: /var/lib/dpkg/lock-frontend is held by process 812 (apt-get)
    16:50:45 cp1: etcd's data is kept in /home/op/undone.db
    16:50:45 ✖ cp1: kubeadm-init failed; the reason follows at the end
    16:50:45 == init: 1 change in 9.3 s
    16:50:45 interrupted
    "
  `);
});

test('lines with -v: hosts that do not answer with the reason, hosts in every phase, and commands', () => {
  const { write, text } = collected();
  const reporter = lineReporter(write, 'all');
  const kinds = ['unreachable', 'host-started', 'host-done'];
  for (const event of timed.filter(({ kind }) => kinds.includes(kind))) reporter.report(event);
  expect(text()).toBe(
    '16:50:45 ! w1: no answer\n16:50:45 cp1: begins init\n16:50:45 cp1: init: 1 change after 9.3 s\n',
  );
  const entry = { host: 'w1', command: 'turn swap off' };
  expect(commandLine(entry)).toBe('w1: $ turn swap off …');
  expect(commandLine({ ...entry, status: 0, durationMs: 240 })).toBe('w1: $ turn swap off: ended after 0.2 s');
  expect(commandLine({ ...entry, status: 1, durationMs: 240 })).toBe('w1: $ turn swap off: status 1 after 0.2 s');
});

test('JSON: one event a line, each with its schema version', () => {
  const { write, text } = collected();
  for (const event of timed) jsonReporter(write).report(event);
  const read = text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(read.flatMap((event) => faultsOf('event', event))).toEqual([]);
  expect(read).toEqual(timed.map((event) => ({ schemaVersion: 1, ...event })));
  const content = { cluster: 'prod', changes: [], restarts: [] };
  expect(JSON.parse(jsonDocument<'reboot-plan'>(content))).toEqual({ schemaVersion: 1, ...content });
});

test('the log file is private from its first byte and holds every event', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-log-'));
  const path = join(folder, 'deep/run.log');
  const log = logFile(path, () => undefined);
  log.report(timed[0]!);
  log.write({ kind: 'command', host: 'cp1' });
  await log.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(2);
  rmSync(folder, { recursive: true });
});

test('a log on a full disk ends, which is told once; one that cannot be opened is refused', async () => {
  const told: string[] = [];
  const log = logFile('/dev/full', ({ message }) => told.push(message));
  log.write({ kind: 'one' });
  log.write({ kind: 'two' });
  await log.close();
  expect(told).toEqual([expect.stringContaining('ENOSPC')]);
  expect(() => logFile('/dev/null/folder/log', () => undefined)).toThrow(
    /^\/dev\/null\/folder\/log, the log of the run, cannot be written: /,
  );
});

test('a status for people names nodes, members, what expires first, and drift', () => {
  const status = {
    cluster: 'prod',
    endpoint: 'k8s.example.com:6443',
    healthy: true,
    problems: [],
    warnings: [],
    ...clusterStatus(
      clusterOf({
        apiServers: new Map([
          ['cp2', 'etcd failed'],
          ['cp1', 'ok'],
        ]),
        members: [
          {
            id: '8e9e05c52164694d',
            name: 'cp1',
            peerUrl: 'https://10.0.0.11:2380',
            learner: false,
            healthy: true,
            leader: true,
            dbSize: 20 * 1024 * 1024 + 1,
          },
          {
            id: 'ffffffffffffffff',
            name: 'cp2',
            peerUrl: 'https://10.0.0.12:2380',
            learner: true,
            healthy: false,
            leader: false,
            dbSize: 0,
          },
        ],
        alarms: ['NOSPACE on 8e9e05c52164694d'],
      }),
      'stacked',
    ),
    certificates: [
      { host: 'cp1', name: 'ca', expires: '2036-01-01T00:00:00.000Z' },
      { host: 'cp1', name: 'apiserver', expires: '2026-12-01T00:00:00.000Z' },
    ],
    versions: [],
    drift: ['w1: turn swap off'],
    trouble: [
      {
        host: 'win1',
        name: 'services-not-running',
        found: 'kubelet not running',
        cause: 'it ended',
        remedy: 'start it',
      },
    ],
  };
  const text = statusText(status, Date.parse('2026-11-21T00:00:00Z'));
  expect(text).toMatch(/prod: Kubernetes \S+ at k8s\.example\.com:6443/);
  expect(text).toMatch(/cp1 +apiserver +\S+ +10\n[\s\S]*cp1 +ca/);
  expect(text).toContain('API servers: cp1 ok, cp2 etcd failed\n');
  expect(text).toContain('etcd (stacked), leader cp1\n');
  expect(text).toMatch(/^ {2}cp1 +8e9e05c52164694d +https:\/\/10\.0\.0\.11:2380 +healthy +21 MiB$/m);
  expect(text).toMatch(/^ {2}cp2 +ffffffffffffffff +https:\/\/10\.0\.0\.12:2380 +NOT HEALTHY, learner +0 MiB$/m);
  expect(text).toContain('  ALARM NOSPACE on 8e9e05c52164694d\n');
  expect(JSON.parse(jsonDocument(status))).toMatchObject({
    apiServers: [
      { host: 'cp1', readyz: 'ok' },
      { host: 'cp2', readyz: 'etcd failed' },
    ],
    etcd: {
      topology: 'stacked',
      leader: 'cp1',
      // uint64: exact only as text.
      members: [
        { name: 'cp1', id: '8e9e05c52164694d', learner: false, healthy: true, dbSize: 20_971_521 },
        { name: 'cp2', id: 'ffffffffffffffff', learner: true, healthy: false, dbSize: 0 },
      ],
      alarms: ['NOSPACE on 8e9e05c52164694d'],
    },
  });
  expect(text).toContain('drift\n  w1: turn swap off');
  expect(text).toContain('win1: kubelet not running (services-not-running): it ended\n    → start it');
});
