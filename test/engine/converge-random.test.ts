/** What holds for every run, however its hosts fail, lose their connections or locks, or are interrupted. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/engine/event.ts';
import { anyRun, type GivenRun, type RandomRun, randomRun } from './random-run.ts';

/** Holds the property against random runs. */
const always = (property: (run: RandomRun, given: GivenRun) => void): Promise<void> =>
  fc.assert(
    fc.asyncProperty(anyRun, async (given) => property(await randomRun(given), given)),
    { numRuns: 200 },
  );

const ofKind = <K extends Event['kind']>({ events }: RandomRun, kind: K) =>
  events.filter((event): event is Extract<Event, { kind: K }> => event.kind === kind);

/** Calls `at` for each event, with the hosts that are in a phase then: `phase/host`. */
function follow({ events }: RandomRun, at: (event: Event, active: ReadonlySet<string>) => void): void {
  const active = new Set<string>();
  for (const event of events) {
    at(event, active);
    if (event.kind === 'host-started') active.add(`${event.phase}/${event.host}`);
    else if (event.kind === 'host-done' || event.kind === 'failed') active.delete(`${event.phase}/${event.host}`);
  }
}

describe('a random run', () => {
  test('changes no more hosts at once than its concurrency', () =>
    always((run, { concurrency }) => {
      expect(run.most).toBeLessThanOrEqual(concurrency);
    }));

  test('has one host at a time in a phase that goes host by host', () =>
    always((run) => {
      const oneByOne = new Set(run.phases.filter(({ concurrency }) => concurrency === 1).map(({ name }) => name));
      follow(run, (event, active) => {
        if (event.kind === 'host-started' && oneByOne.has(event.phase))
          expect([...active].filter((place) => place.startsWith(`${event.phase}/`))).toEqual([]);
      });
    }));

  test('begins a phase that does not overlap when no host is in a phase before it', () =>
    always((run) => {
      const waiting = new Set(run.phases.filter(({ overlaps }) => overlaps !== true).map(({ name }) => name));
      follow(run, (event, active) => {
        if (event.kind === 'phase-started' && waiting.has(event.phase)) expect([...active]).toEqual([]);
      });
    }));

  test('takes each host through its phases in their order, those that verify last', () =>
    always((run) => {
      const places = ofKind(run, 'host-started');
      const order = [...run.phases].sort((a, b) => Number(a.verifies ?? false) - Number(b.verifies ?? false));
      const once = order.filter(({ verifies }) => verifies !== true).map(({ name }) => name);
      for (const host of run.words.keys()) {
        const gone = places.filter((place) => place.host === host).map(({ phase }) => phase);
        const built = gone.filter((phase) => once.includes(phase));
        expect(built).toEqual(once.filter((phase) => built.includes(phase)));
        // Verification may be repeated, and nothing is built after it.
        expect(gone.slice(0, built.length)).toEqual(built);
      }
    }));

  test('begins no change after it was interrupted', () =>
    always((run) => {
      const after = run.events.slice(run.interruptedAt ?? run.events.length);
      expect(after.filter(({ kind }) => kind === 'changing')).toEqual([]);
    }));

  test('unless it ends for all hosts, brings every host that has not failed to its state, and ends all phases', () =>
    always((run) => {
      if (run.endsAll) return;
      for (const [host, words] of run.words) {
        if (run.failed.includes(host)) continue;
        const steps = run.phases.flatMap((phase) =>
          phase.hosts.some(({ name }) => name === host) ? phase.steps.map(({ name }) => name) : [],
        );
        expect([...words].sort()).toEqual(steps.sort());
      }
      const begun = ofKind(run, 'phase-started').map(({ phase }) => phase);
      expect(
        ofKind(run, 'phase-done')
          .map(({ phase }) => phase)
          .sort(),
      ).toEqual(begun.sort());
    }));

  test('ends with one event `done`, which has its changes and failed hosts', () =>
    always((run) => {
      expect(ofKind(run, 'done')).toEqual([
        { kind: 'done', changes: run.changes, failed: run.failed, durationMs: expect.any(Number) as number },
      ]);
      expect(run.events.at(-1)?.kind).toBe('done');
    }));
});
