import { describe, expect, test } from 'vitest';
import { reportView } from '../../../src/report/page/view.ts';
import type { Note } from '../../../src/report/record/line.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { FAILED_RUN, killedRunText, recordedHost, recordHeadOf, recordText, type At } from '../../fakes/record.ts';

const viewOf = (lines: readonly At[], head = recordHeadOf()): ReturnType<typeof reportView> =>
  reportView(readRecord(recordText(lines, head), 'record'));

const failed = viewOf(FAILED_RUN);

/** A phase in which each host is at work for so many ms. */
function phase(name: string, took: Readonly<Record<string, number>>, fromMs = 0): readonly At[] {
  const hosts = Object.keys(took);
  const toMs = fromMs + Math.max(...Object.values(took));
  const at = (host: string) => ({ phase: name, host });
  return [
    [fromMs, { kind: 'phase-started', phase: name, title: `Phase ${name}`, hosts }],
    ...hosts.map((host): At => [fromMs, { kind: 'host-started', ...at(host) }]),
    ...hosts.flatMap((host): readonly At[] => [
      [fromMs, { kind: 'changing', ...at(host), step: 'one', summary: `do ${host}` }],
      [
        fromMs + took[host]!,
        { kind: 'changed', ...at(host), step: 'one', summary: `do ${host}`, durationMs: took[host]! },
      ],
      [fromMs + took[host]!, { kind: 'host-done', ...at(host), changes: 1, durationMs: took[host]! }],
    ]),
    [toMs, { kind: 'phase-done', phase: name, changes: hosts.length, durationMs: toMs - fromMs }],
  ].toSorted(([a], [b]) => (a as number) - (b as number)) as readonly At[];
}

const END = (exitCode: number): Note => ({ kind: 'end', exitCode, result: '', durationMs: 100_000 });

describe('the result', () => {
  test('names what was changed, on how many hosts, how long it took, and who failed', () => {
    expect(failed.result).toMatchObject({
      outcome: 'failed',
      exitCode: 4,
      line: 'after 1 min 24 s: 4 changes on 3 hosts; w2 failed',
      changes: 4,
      failed: ['w2'],
    });
  });

  test('is done, with hosts that were left out', () => {
    const { result } = viewOf([
      [0, { kind: 'left-out', host: 'w9', message: 'w9: no route to host' }],
      ...phase('a', { w1: 1000, w2: 2000 }),
      [100_000, END(0)],
    ]);
    expect(result).toMatchObject({ outcome: 'done', line: '2 changes on 2 hosts in 1 min 40 s; w9 left out' });
  });

  test('is interrupted by Ctrl-C, and by a deadline', () => {
    const stopped: At = [4000, { kind: 'interrupted', summary: 'interrupted' }];
    expect(viewOf([stopped, [100_000, END(130)]]).result.outcome).toBe('interrupted');
    expect(viewOf([stopped, [100_000, END(5)]]).result.outcome).toBe('interrupted');
    expect(viewOf([[100_000, END(5)]]).result.outcome).toBe('failed');
  });

  test('says that a record of a killed run has no result', () => {
    const killed = reportView(readRecord(killedRunText(), 'record'));
    expect(killed.result.outcome).toBe('unfinished');
    expect(killed.result.line).toMatch(/^the record ends after 1 min 4 s without a result: 3 changes on 3 hosts/);
    expect(killed.isWhole).toBe(false);
    // What was under way is shown as not finished.
    expect(killed.phases.at(-1)).toMatchObject({ title: 'Join workers', isCut: true });
  });

  test('of a run that was never begun is that nothing was changed', () => {
    expect(viewOf([[0, END(0)]]).result.line).toBe('nothing was changed in 1 min 40 s');
  });
});

describe('phases', () => {
  test('name the longest host, what of it took longest, and who waited for it', () => {
    expect(failed.phases[0]).toMatchObject({
      number: 1,
      title: 'Prepare hosts',
      changes: 2,
      longest: { host: 'w2', ms: 32_520, on: 'install kubelet 1.36.3 (found none)', onMs: 32_500 },
      others: { waiting: 2, host: 'cp1', longestMs: 32_501 },
    });
  });

  test('a host that goes on with its next phase does not wait for the slowest', () => {
    const { phases } = viewOf([
      ...phase('a', { w1: 1000, w2: 9000 }),
      ...phase('b', { w1: 500 }, 1000),
      [100_000, END(0)],
    ]);
    expect(phases[0]!.others).toEqual({ waiting: 0, longestMs: 0, host: '' });
  });
});

describe('failures', () => {
  test('the first one is first, with cause, remedy, place and last words', () => {
    expect(failed.failures).toHaveLength(1);
    expect(failed.failures[0]).toMatchObject({
      hosts: 'w2',
      phase: 'join',
      step: 'join',
      change: 'join the cluster',
      atMs: 84_020,
      cause: 'the clock of HOST is wrong'.replace('HOST', 'w2'),
      remedy: 'let chrony keep its clock',
      witness: 'w2',
    });
    expect(failed.failures[0]!.message).toMatch(/^status 1: kubeadm join\n/);
    expect(failed.failures[0]!.lastWords.map(({ title, lines }) => [title, lines.length])).toEqual([['kubelet', 1]]);
  });

  test('hosts that failed alike are one failure; one without an explanation still counts', () => {
    const fail = (ms: number, host: string): At => [
      ms,
      { kind: 'failed', phase: 'join', host, step: 'join', summary: `${host}: status 1`, exitCode: 4 },
    ];
    const why = (host: string): At => [
      9000,
      {
        kind: 'failure',
        host,
        message: `${host}: no space left`,
        cause: '',
        remedy: 'clean up',
        lastWords: '',
        exitCode: 4,
      },
    ];
    const { failures } = viewOf([
      fail(3000, 'w1'),
      fail(1000, 'w2'),
      fail(2000, 'cp1'),
      why('w1'),
      why('w2'),
      [9999, END(4)],
    ]);
    expect(failures.map(({ hosts, message }) => [hosts, message])).toEqual([
      ['w2, w1', 'no space left'],
      ['cp1', 'status 1'],
    ]);
  });

  test('what to type next is the same command, where it would not end as before', () => {
    const head = recordHeadOf({ command: 'up', inventory: '/home/me/my prod.yaml', log: '/var/log/x.log' });
    expect(viewOf([[9999, END(4)]], head).next).toBe(
      'run the same command again, with the options that it had, to go on from here: ' +
        "`kbuild up -i '/home/me/my prod.yaml'`; the log has every command: `/var/log/x.log`",
    );
    expect(viewOf([[9999, END(7)]], head).next).toBe('the log has every command: `/var/log/x.log`');
    // A record of an older kbuild.
    expect(viewOf([[9999, END(130)]]).next).toMatch(/: `kbuild up`$/);
  });

  test('the error that ended the run is one, unless a host said it', () => {
    const error: At = [
      5000,
      { kind: 'error', message: 'refused: another run holds the lock', remedy: 'wait', exitCode: 7 },
    ];
    expect(viewOf([error, [9999, END(7)]]).failures).toMatchObject([
      { hosts: '', message: 'refused: another run holds the lock' },
    ]);
  });
});

describe('the plan', () => {
  test('is told apart from what was done, what failed, and what was not planned', () => {
    const of = Object.fromEntries(
      failed.plan.phases.flatMap(({ title, lines }) =>
        lines.map(({ fate, summary, hosts }) => [`${title}: ${hosts}: ${summary}`, fate]),
      ),
    );
    expect(of).toMatchObject({
      'Prepare hosts: w1, w2: install kubelet 1.36.3 (found none)': 'done',
      'Join workers: w1: join the cluster': 'done',
      'Join workers: w2: join the cluster': 'failed',
      'verify: w1: wait until the node is Ready': 'not done',
    });
    expect(failed.plan.restarts).toEqual(['haproxy of lb1']);
    const extra = viewOf([
      [0, { kind: 'unplanned', phase: 'a', host: 'w1', step: 'one', summary: 'do w1' }],
      ...phase('a', { w1: 10 }),
      [99, END(0)],
    ]);
    expect(extra.plan).toMatchObject({ isKnown: false, counts: { unplanned: 1, done: 0 } });
  });

  test('a change that a host did not have to make in its phase is not needed; one that it never came to is not done', () => {
    const changes = ['w1', 'w2'].map((host) => ({ phase: 'a', host, step: 'two', summary: 'start containerd' }));
    const plan: Note = { kind: 'plan', phases: [], changes, waits: [], restarts: [] };
    const { plan: view } = viewOf([[0, plan], ...phase('a', { w1: 10 }), [99, END(4)]]);
    expect(view.counts).toMatchObject({ 'not needed': 1, 'not done': 1 });
  });

  test('a change that another control plane made for the planned one is done', () => {
    const change = { phase: 'network', step: 'one', summary: 'apply flannel' };
    const plan: Note = {
      kind: 'plan',
      phases: [{ name: 'network', title: 'Network', hosts: ['cp1'] }],
      changes: [{ ...change, host: 'cp1' }],
      waits: [],
      restarts: [],
    };
    const { plan: view } = viewOf([[0, plan], ...phase('network', { cp2: 10 }), [99, END(0)]]);
    expect(view.counts).toMatchObject({ done: 1, 'not done': 0 });
  });
});

test('findings are grouped as in the terminal', () => {
  expect(failed.findings!.map(({ severity, hosts, message }) => [severity, hosts, message])).toEqual([
    ['warning', 'w2', 'no service keeps its clock'],
    ['due', 'w1, w2', 'swap is on'],
  ]);
  expect(viewOf([[0, END(0)]]).findings).toBeUndefined();
});

describe('the cluster', () => {
  test('shows how each host stood: ready, failed, not joined', () => {
    const { cluster } = failed;
    expect(cluster).toMatchObject({ state: 'up', version: '1.36.3', endpointAnswer: 'ok' });
    expect(cluster.controls).toMatchObject([{ name: 'cp1', standing: 'ready', etcd: 'leader' }]);
    expect(cluster.balancers).toMatchObject([{ name: 'lb1', standing: 'no node', holdsAddress: true }]);
    expect(
      cluster.workers.map(({ version, machines }) => [version, machines.map(({ name, standing }) => [name, standing])]),
    ).toEqual([
      ['v1.36.3', [['w1', 'ready']]],
      ['', [['w2', 'failed']]],
    ]);
  });

  test('is unknown, and not absent, where it was not observed', () => {
    const { cluster } = viewOf([[0, END(3)]]);
    expect(cluster.state).toBe('unknown');
    expect(cluster.controls).toMatchObject([{ standing: 'unknown' }]);
  });
});

describe('ways between hosts', () => {
  test('are a table with the blocked ones', () => {
    const ports = failed.ports!;
    const cell = (from: string, to: string) => ports.cells[ports.from.indexOf(from)]![ports.to.indexOf(to)];
    expect(ports.tried).toBe(7);
    expect(cell('w1', 'w2')).toMatchObject({ tried: 1, blocked: ['8472/udp flannel'] });
    expect(cell('cp1', 'w2')).toMatchObject({ tried: 2, blocked: [] });
    expect(cell('w2', 'w2')).toBeUndefined();
  });

  test('of many hosts are shown where they are blocked, and counted where they are open', () => {
    const hosts = Array.from({ length: 40 }, (_, at) => recordedHost(`w${String(at + 1)}`));
    const names = hosts.map(({ name }) => name);
    const survey: Note = {
      kind: 'ports-surveyed',
      ways: names.map((to) => ({
        to,
        port: 10250,
        protocol: 'tcp',
        program: 'kubelet',
        from: names.filter((from) => from !== to),
      })),
      blocked: [{ from: 'w3', to: 'w9', port: 10250, protocol: 'tcp', program: 'kubelet', how: 'refused' }],
      narrow: [],
      unverified: [],
      failed: [],
    };
    const { ports } = viewOf([[0, survey]], recordHeadOf({ hosts }));
    expect(ports).toMatchObject({ from: ['w3', 'w9'], to: ['w3', 'w9'], open: 38, tried: 1560 });
    // A record that does not list every blocked way leaves unknown who has none.
    const cut = viewOf([[0, { ...survey, unlisted: { ways: 10, blocked: 5 } }]], recordHeadOf({ hosts }));
    expect(cut.ports).toMatchObject({ open: 0, unlisted: 5, tried: 1570 });
  });
});

test('certificates that end together stand together on a logarithmic axis, the soonest first', () => {
  const { certificates } = failed.certificates!;
  expect(certificates.map(({ names, day, days, state }) => [names, day, days, state])).toEqual([
    ['apiserver', '2027-11-21', 364, 'valid'],
    ['kubelet', '2027-11-21', 364, 'valid'],
    ['ca', '2036-11-18', 3649, 'valid'],
  ]);
  expect(certificates[0]!.share).toBeGreaterThan(0.5);
  const note: Note = {
    kind: 'certificates-observed',
    certificates: ['2026-11-11T00:00:00Z', '2026-11-30T00:00:00Z'].map((expires, at) => ({
      host: 'cp1',
      name: `c${String(at)}`,
      expires,
      renewedBy: 'kbuild',
    })),
    unknown: [],
  };
  const other = viewOf([[0, note]]).certificates!;
  expect(other.certificates.map(({ state }) => state)).toEqual(['expired', 'soon']);
  expect(other.certificates[0]!.share).toBeLessThan(other.now);
});

describe('the timeline', () => {
  test('has a row for each host that had something to do, with its waits, and the moment of failure', () => {
    const { timeline } = failed;
    expect(timeline).toMatchObject({ form: 'hosts', failedMs: 84_020, idle: ['lb1'] });
    expect(timeline.rows.map(({ label, failedMs }) => [label, failedMs])).toEqual([
      ['whole run', undefined],
      ['cp1', undefined],
      ['w1', undefined],
      ['w2', 84_020],
    ]);
    const w2 = timeline.rows.at(-1)!.slices.map(({ what, text, end }) => [what, text, end]);
    expect(w2).toContainEqual([
      'wait',
      'w2: waits: the apt lock is held by process 812 (unattended-upgr): 29.5 s, from 0:12 to 0:41',
      'done',
    ]);
    expect(w2.at(-1)![2] === 'failed' || w2.some(([, , end]) => end === 'failed')).toBe(true);
  });

  test('marks what restarts', () => {
    const lines: readonly At[] = [
      [
        0,
        {
          kind: 'changing',
          phase: 'a',
          host: 'w1',
          step: 's',
          summary: 'restart containerd: its configuration changed',
        },
      ],
      [
        9,
        {
          kind: 'changed',
          phase: 'a',
          host: 'w1',
          step: 's',
          summary: 'restart containerd: its configuration changed',
          durationMs: 9,
        },
      ],
    ];
    expect(viewOf(lines).timeline.rows[0]!.slices[0]).toMatchObject({ isRestart: true });
  });

  test('of many hosts is grouped by phase and duration, with the slowest hosts and those that failed', () => {
    const hosts = Array.from({ length: 200 }, (_, at) => recordedHost(`w${String(at + 1)}`));
    const took = Object.fromEntries(
      hosts.map(({ name }, at) => [name, at < 150 ? 10_000 + at : at < 199 ? 30_000 + at : 55_000]),
    );
    const { timeline } = viewOf([...phase('a', took), [100_000, END(0)]], recordHeadOf({ hosts }));
    expect(timeline.form).toBe('groups');
    expect(timeline.rows.map(({ label, detail }) => [label, detail])).toEqual([
      ['under 15 s', '150 hosts'],
      ['30 s to 45 s', '49 hosts'],
      ['w200', 'slowest, 55.0 s'],
      ['w199', 'slowest, 30.2 s'],
      ['w198', 'slowest, 30.2 s'],
    ]);
    expect(timeline.rows[0]).toMatchObject({ heading: '1 Phase a' });
  });

  test('puts phases that overlap into lanes', () => {
    const { timeline } = viewOf([...phase('a', { w1: 5000 }), ...phase('b', { w2: 5000 }, 2000), [100_000, END(0)]]);
    expect(timeline.bands.map(({ title, lane }) => [title, lane])).toEqual([
      ['Phase a', 0],
      ['Phase b', 1],
    ]);
  });
});
