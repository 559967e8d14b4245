import { expect, test } from 'vitest';
import * as realNotes from '../../src/report/record/notes.ts';
import * as realRecorder from '../../src/report/record/record-files.ts';
import { boundTable, kept } from './bounds.ts';
import type { Row } from './measure.ts';
import * as noNotes from './no-notes.ts';
import * as noRecorder from './no-recorder.ts';
import { sweepBounds } from './sweep.ts';

/** A sweep of 50 and 200 hosts, on a machine that takes `times` as long for everything. */
const sweepOn = (times: number, planCpu = 0.87): readonly Row[] =>
  [
    { who: 'floor', hosts: 50, wall: 1.57, cpu: 0.6 },
    { who: 'kbuild plan', hosts: 50, wall: 1.82, cpu: planCpu },
    { who: 'xargs ssh', hosts: 50, wall: 3.42, cpu: 4.05 },
    { who: 'floor', hosts: 200, wall: 6.12, cpu: 1.76 },
    { who: 'kbuild plan', hosts: 200, wall: 6.83, cpu: 2.63 },
    { who: 'xargs ssh', hosts: 200, wall: 13.97, cpu: 16.19 },
  ].map((row) => ({ ...row, wall: row.wall * times, cpu: row.cpu * times, memory: 60, load: 1 }));

test('the bounds of a sweep are the same on a machine of half and of ten times the speed', () => {
  for (const times of [0.1, 1, 2]) expect(sweepBounds(sweepOn(times)).filter((bound) => !kept(bound))).toEqual([]);
});

test('a plan that takes more CPU than 1.6 times the floor is a missed bound on any machine', () => {
  for (const times of [0.1, 1, 2])
    expect(
      sweepBounds(sweepOn(times, 1))
        .filter((bound) => !kept(bound))
        .map(({ name }) => name),
    ).toEqual(['CPU of plan over that of the floor, 50 hosts']);
});

test('absolute figures stand beside each ratio', () => {
  expect(boundTable(sweepBounds(sweepOn(2)))).toContain('| 1.74 s beside 1.20 s |');
});

test.each([
  ['recorder', realRecorder, noRecorder],
  ['notes', realNotes, noNotes],
])('what stands in for the %s has all of its functions: no bench ends at its build', (_, real, standsIn) => {
  const functions = Object.entries(real).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  expect(Object.keys(standsIn)).toEqual(expect.arrayContaining(functions));
});
