/** What runs leave: the record and the trace of a build of 3 + 2 hosts, of a run that fails, and of one that is interrupted. */
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RecordLine, RunRecord } from '../../../src/report/record/line.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { type RecordFile, recordsIn } from '../../../src/report/record/record-files.ts';
import { timelineOf } from '../../../src/report/record/timeline.ts';
import { traceFaults } from '../../fakes/trace-rules.ts';
import type { Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['r1cp1', 'r1cp2', 'r1cp3', 'r1w1', 'r1w2'];
const last = HOSTS.at(-1)!;
const MINUTES_MS = 5 * 60_000;

/** With KBUILD_RECORDS_TO=FOLDER the records become fixtures there. */
const keptIn = process.env['KBUILD_RECORDS_TO'];
let cluster: Stacked;

beforeAll(async () => {
  cluster = await stacked('records', 7651, HOSTS);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

/** The record of the last run, and what is true of every record. */
function lastRecord(name: string): RunRecord & RecordFile {
  const file = recordsIn(join(process.env['XDG_STATE_HOME']!, 'kbuild/records/runs')).at(-1)!;
  const text = readFileSync(file.path, 'utf8');
  const trace = readFileSync(file.trace, 'utf8');
  expect(traceFaults(trace)).toEqual([]);
  for (const path of [file.path, file.trace]) expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const written of [text, trace])
    expect(written).not.toMatch(/PRIVATE KEY|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\beyJ[\w-]{10,}\./);
  if (keptIn !== undefined) copyFileSync(file.path, join(keptIn, `${name}.ndjson`));
  const record = readRecord(text, file.path);
  expect({ isWhole: record.isWhole, leftOut: record.leftOut }).toEqual({ isWhole: true, leftOut: 0 });
  return { ...record, ...file };
}

function linesOf<K extends RecordLine['kind']>({ lines }: RunRecord, kind: K) {
  return lines.filter((line): line is Extract<RecordLine, { readonly kind: K }> => line.kind === kind);
}

const endOf = (record: RunRecord) => linesOf(record, 'end').at(-1)!;

test('a build of 3 + 2 hosts leaves what it planned and did, and the cluster as it is', async () => {
  const ran: Ran = await cluster.up();
  ok(ran);
  const record = lastRecord('build');
  expect(ran.stderr).toContain(endOf(record).result.replace(/^done: (.*) in .*$/, '$1'));
  // Another control plane may act than the planned one, and installing may make a later change needless.
  const stepsOf = (changes: readonly { readonly phase: string; readonly step: string }[]) =>
    new Set(changes.map(({ phase, step }) => `${phase}/${step}`));
  const planned = linesOf(record, 'plan').at(-1)!.changes;
  const made = linesOf(record, 'changed');
  expect(made.length).toBeGreaterThan(50);
  expect([...stepsOf(made)].filter((step) => !stepsOf(planned).has(step))).toEqual([]);
  const [before, after] = [linesOf(record, 'cluster-observed')[0]!, linesOf(record, 'cluster-observed').at(-1)!];
  expect({ before: before.state, after: after.state, answer: after.endpointAnswer }).toEqual({ before: 'absent', after: 'up', answer: 'ok' }); // prettier-ignore
  expect(after.nodes.map(({ name, ready }) => `${name} ${String(ready)}`).toSorted()).toEqual(
    HOSTS.map((host) => `${host} true`),
  );
  expect(after.etcd.members).toHaveLength(3);
  expect(linesOf(record, 'ports-surveyed').at(-1)!.ways.length).toBeGreaterThan(10);
  expect(linesOf(record, 'certificates-observed').at(-1)!.certificates.length).toBeGreaterThan(20);
  const { spans } = timelineOf(record);
  expect(spans.filter(({ outcome }) => outcome === 'cut off')).toEqual([]);
  const hosts = new Set(spans.filter(({ kind }) => kind === 'change').map(({ host }) => host));
  expect([...hosts].toSorted()).toEqual(HOSTS);
});

test('a run that fails leaves its failure with the last words of the host', async () => {
  await lab.reset([last]);
  const failing = '#!/bin/sh\nif [ "$1" = join ]; then echo "error: this host does not join" >&2; exit 1; fi\nexec /usr/bin/kubeadm "$@"\n'; // prettier-ignore
  await lab.inside(last, 'cat >/usr/local/bin/kubeadm; chmod 755 /usr/local/bin/kubeadm', failing);
  expect((await cluster.up()).code).toBe(4);
  const record = lastRecord('failed');
  expect(endOf(record).exitCode).toBe(4);
  expect(linesOf(record, 'failed')).toMatchObject([{ host: last, exitCode: 4 }]);
  const [failure] = linesOf(record, 'failure');
  expect(failure).toMatchObject({ host: last, message: expect.stringContaining('does not join') as string });
  expect(failure!.lastWords).toContain('== ');
});

test('a run that is interrupted says what it had begun', async () => {
  await lab.inside(last, 'rm /usr/local/bin/kubeadm');
  const running = cluster.startUp('--json');
  await waitUntil('a change begins', MINUTES_MS, () => running.printed().includes('"changing"'));
  running.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  const record = lastRecord('interrupted');
  expect(endOf(record)).toMatchObject({ exitCode: 130, result: expect.stringMatching(/^interrupted: /) as string });
  expect(linesOf(record, 'interrupted')).toHaveLength(1);
  expect(linesOf(record, 'changing').length).toBeGreaterThan(0);
});
