import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/engine/event.ts';
import type { Note } from '../../../src/report/record/line.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { timelineOf } from '../../../src/report/record/timeline.ts';
import { traceOf } from '../../../src/report/record/trace.ts';
import { dice, playedRecord } from '../../fakes/played-record.ts';
import { FAILED_RUN, killedRunText, RECORD_START, recordText, type At } from '../../fakes/record.ts';
import { traceFaults } from '../../fakes/trace-rules.ts';

const recordOf = (lines: readonly At[]) => readRecord(recordText(lines), 'it');

/** The spans of a run: where, what kind, what, from and to in ms after its start. */
const spansOf = (lines: readonly At[]) =>
  timelineOf(recordOf(lines)).spans.map(({ host = '', kind, name, startMs, endMs, outcome }) =>
    [host, kind, name, startMs - RECORD_START, endMs - RECORD_START, outcome].join(' | '),
  );

const place = { phase: 'join', host: 'w1', step: 'join' };
const started = (ms: number): readonly At[] => [
  [ms, { kind: 'phase-started', phase: 'join', title: 'Join workers', hosts: ['w1'] }],
  [ms, { kind: 'host-started', phase: 'join', host: 'w1' }],
];

describe('the spans of a run', () => {
  test('are the run, its observation, its phases, and on each host its phases, changes and waits', () => {
    expect(spansOf(FAILED_RUN)).toEqual([
      ' | run | kbuild up | 0 | 84200 | failed',
      ' | observation | connect and observe | 5 | 500 | done',
      'cp1 | command | observe | 90 | 400 | done',
      'w1 | command | observe | 110 | 450 | done',
      " | wait | another run holds the cluster's lock | 4001 | 9001 | done",
      ' | phase | Prepare hosts | 9010 | 41531 | done',
      'cp1 | host | Prepare hosts | 9010 | 9030 | done',
      'w1 | host | Prepare hosts | 9010 | 21530 | done',
      'w2 | host | Prepare hosts | 9011 | 41531 | done',
      'w1 | change | install kubelet 1.36.3 (found none) | 9020 | 21520 | done',
      'w2 | change | install kubelet 1.36.3 (found none) | 9021 | 41521 | done',
      'w2 | wait | the apt lock is held by process 812 (unattended-upgr) | 12000 | 41521 | done',
      'w1 | command | install packages | 9100 | 21500 | done',
      'w2 | command | install packages | 9100 | 41500 | done',
      ' | phase | Build the control plane | 41540 | 64000 | done',
      'cp1 | host | Build the control plane | 41540 | 64000 | done',
      'cp1 | change | initialize the cluster with kubeadm init | 41550 | 61550 | done',
      'cp1 | wait | the API starts | 61600 | 64000 | done',
      ' | phase | Join workers | 64010 | 84020 | done',
      'w1 | host | Join workers | 64010 | 70010 | done',
      'w2 | host | Join workers | 64010 | 84020 | failed',
      'w1 | change | join the cluster | 64020 | 70000 | done',
      'w2 | change | join the cluster | 64020 | 84020 | failed',
    ]);
  });

  test('of a killed run end with its last line, cut off', () => {
    const { spans } = timelineOf(readRecord(killedRunText(), 'it'));
    const endMs = RECORD_START + 64_020;
    expect(spans.filter(({ outcome }) => outcome === 'cut off').map((one) => [one.host, one.kind, one.endMs])).toEqual([
      [undefined, 'run', endMs],
      [undefined, 'phase', endMs],
      ['w1', 'host', endMs],
      ['w2', 'host', endMs],
      ['w1', 'change', endMs],
    ]);
  });

  test('have the wait for a turn, of a host that begins a phase later than it could', () => {
    const lines: readonly At[] = [
      [0, { kind: 'phase-started', phase: 'p', title: 'One by one', hosts: ['cp1', 'w1'] }],
      [0, { kind: 'host-started', phase: 'p', host: 'cp1' }],
      [900, { kind: 'host-done', phase: 'p', host: 'cp1', changes: 0, durationMs: 900 }],
      [901, { kind: 'host-started', phase: 'p', host: 'w1' }],
      [950, { kind: 'host-done', phase: 'p', host: 'w1', changes: 0, durationMs: 49 }],
    ];
    expect(spansOf(lines)).toContain('w1 | wait | its turn | 0 | 901 | done');
    expect(spansOf(lines).filter((one) => one.includes('wait'))).toHaveLength(1);
  });

  test('have a wait that ended by its own times, and one that did not up to the end of the record', () => {
    const waiting = { kind: 'waiting', what: 'turn', host: 'w1' } as const;
    const lines: readonly At[] = [
      ...started(0),
      [150, { ...waiting, wait: 1, summary: 'its turn to restart' }],
      [1100, { kind: 'waited', wait: 1, durationMs: 1000 }],
      [1200, { ...waiting, wait: 2, summary: 'its turn to restart' }],
      [1300, { kind: 'waited', wait: 99, durationMs: 1 }],
    ];
    expect(spansOf(lines).filter((one) => one.includes('| wait |'))).toEqual([
      'w1 | wait | its turn to restart | 100 | 1100 | done',
      'w1 | wait | its turn to restart | 1200 | 1300 | cut off',
    ]);
  });

  test('follow a wait from one summary to the next', () => {
    const settling = (ms: number, summary: string, waitedMs: number): At => [
      ms,
      { kind: 'settling', ...place, summary, waitedMs },
    ];
    const lines: readonly At[] = [
      ...started(0),
      settling(300, 'its API starts', 5000),
      settling(10_300, 'its API starts', 15_000),
      settling(12_000, 'it is not Ready', 16_700),
      [13_000, { kind: 'host-done', phase: 'join', host: 'w1', changes: 0, durationMs: 13_000 }],
    ];
    expect(spansOf(lines).filter((one) => one.includes('| wait |'))).toEqual([
      'w1 | wait | its API starts | 0 | 12000 | done',
      'w1 | wait | it is not Ready | 12000 | 13000 | done',
    ]);
  });
});

/** Lines in an order that no run has. */
function absurd(seed: number): readonly At[] {
  const roll = dice(seed);
  const host = () => `w${String(1 + roll(3))}`;
  const phase = () => `p${String(roll(3))}`;
  const where = () => ({ phase: phase(), host: host(), step: 's' });
  const kinds: readonly (() => Event | Note)[] = [
    () => ({ kind: 'phase-started', phase: phase(), title: 'P', hosts: ['w1', 'w2', 'w3'] }),
    () => ({ kind: 'phase-done', phase: phase(), changes: 1, durationMs: roll(500) }),
    () => ({ kind: 'host-started', phase: phase(), host: host() }),
    () => ({ kind: 'host-done', phase: phase(), host: host(), changes: 0, durationMs: 1 }),
    () => ({ kind: 'changing', ...where(), summary: 'change' }),
    () => ({ kind: 'changed', ...where(), summary: 'change', durationMs: roll(900) }),
    () => ({ kind: 'failed', ...where(), summary: 'no', exitCode: 4 }),
    () => ({ kind: 'settling', ...where(), summary: `wait ${String(roll(2))}`, waitedMs: roll(5000) }),
    () => ({ kind: 'job-waits', host: host(), summary: 'lock' }),
    () => ({ kind: 'command', host: host(), command: 'c', status: roll(2), durationMs: roll(3000) / 7 }),
    () => ({ kind: 'waiting', wait: roll(4), what: 'lock', host: host(), summary: 'its lock' }),
    () => ({ kind: 'waited', wait: roll(4), durationMs: roll(4000) / 3 }),
    () => ({ kind: 'observed', hosts: 3, durationMs: roll(4000) }),
    () => ({ kind: 'noted', host: host(), summary: 'kept' }),
    () => ({ kind: 'done', changes: 0, failed: [], durationMs: 1 }),
    () => ({ kind: 'end', exitCode: 0, result: 'done', durationMs: 1 }),
  ];
  let ms = 0;
  return Array.from({ length: 200 }, (): At => [(ms += roll(200) - 20), kinds[roll(kinds.length)]!()]);
}

describe('the trace of a run', () => {
  const records: readonly (readonly [what: string, text: string])[] = [
    ['a run that failed', recordText(FAILED_RUN)],
    ['a run that was killed', killedRunText()],
    ['a run that did nothing', recordText([])],
    ['a run of 200 hosts', playedRecord(200)],
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((seed) => [`absurd lines ${String(seed)}`, recordText(absurd(seed))] as const),
  ];
  test.each(records)('keeps the rules of the format: %s', (_, text) =>
    expect(traceFaults(JSON.stringify(traceOf(readRecord(text, 'it'))))).toEqual([]),
  );

  test('has a thread for the run, for its phases, for each host and for the commands on it', () => {
    const { traceEvents } = traceOf(recordOf(FAILED_RUN));
    const threads = traceEvents.flatMap((event) =>
      event.ph === 'M' && event.name === 'thread_name' && 'name' in event.args ? [event.args.name] : [],
    );
    expect(threads).toEqual(['kbuild', 'phases', 'cp1', 'cp1 commands', 'w1', 'w1 commands', 'w2', 'w2 commands']);
  });

  test('counts time in µs from the start of the run', () => {
    const { traceEvents } = traceOf(recordOf(FAILED_RUN));
    expect(traceEvents).toContainEqual({
      ph: 'X',
      name: 'join the cluster',
      cat: 'change',
      ts: 64_020_000,
      dur: 20_000_000,
      pid: 1,
      tid: 7,
      args: { phase: 'join', step: 'join', outcome: 'failed' },
    });
  });

  test('gives commands that overlap a thread each', () => {
    const command = { kind: 'command', host: 'w1', command: 'c', status: 0 } as const;
    const { traceEvents } = traceOf(
      recordOf([
        [1000, { ...command, durationMs: 900 }],
        [1500, { ...command, durationMs: 900 }],
        [1600, { ...command, durationMs: 50 }],
      ]),
    );
    expect(traceEvents.flatMap((one) => (one.ph === 'X' && one.cat === 'command' ? [[one.tid, one.ts]] : []))).toEqual([
      [2, 100_000],
      [2, 1_550_000],
      [3, 600_000],
    ]);
  });
});

test('a played run of 200 hosts is read whole', () => {
  const { lines, isWhole, leftOut } = readRecord(playedRecord(200), 'it');
  expect({ isWhole, leftOut, many: lines.length > 5000 }).toEqual({ isWhole: true, leftOut: 0, many: true });
});

test('the rules of the format find what breaks them', () => {
  const trace = traceOf(recordOf(FAILED_RUN));
  const faultsWith = (...events: readonly object[]): readonly string[] =>
    traceFaults(JSON.stringify({ ...trace, traceEvents: [...trace.traceEvents, ...events] }));
  const slice = { ph: 'X', name: 'n', cat: 'c', ts: 9_000_000, dur: 5_000_000, pid: 1, tid: 1 };
  expect(faultsWith(slice)).toEqual([
    '1/1: "n" overlaps "another run holds the cluster\'s lock" without being part of it',
  ]);
  expect(faultsWith({ ...slice, tid: 99 })).toEqual(['1/99 has no name']);
  for (const wrong of [{ dur: -1 }, { ts: 0.5 }, { ph: 'Q' }, { name: '' }, { tid: 'a' }, { ph: 'M' }, { ph: 'i' }])
    expect(faultsWith({ ...slice, ...wrong }), JSON.stringify(wrong)).not.toEqual([]);
});
