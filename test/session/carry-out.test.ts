import { ListrTaskEventType, type ListrTaskObject } from 'listr2';
import { describe, expect, test } from 'vitest';
import type { Phase } from '../../src/engine/step.ts';
import { FactError, Refused } from '../../src/errors.ts';
import { carryOut, type Work } from '../../src/session/carry-out.ts';
import type { Run } from '../../src/session/run.ts';
import { cp1, fleetOf, freshHost, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

type Tasks = readonly ListrTaskObject<object, never, never>[];

const NOTHING = { phases: [], changes: [] };

/** A run on cp1, the order of what happened, and what was shown. */
function runOf(over: { readonly answer?: string; readonly hold?: () => Promise<unknown> } = {}) {
  const order: string[] = [];
  const shown: string[] = [];
  const fleet = fleetOf(freshHost(cp1, { initSystem: 'systemd' }));
  const held = {
    first: 'locked',
    ended: new Promise(() => undefined),
    isDoubtful: () => false,
    release: () => Promise.resolve(void order.push('lock released')),
  };
  const run = {
    inventory: inventoryOf({ hosts: [cp1] }),
    command: 'up',
    runId: 'run1',
    flags: {},
    logPath: '/log',
    context: {
      canAsk: true,
      ask: () => Promise.resolve(over.answer ?? 'y'),
      err: (text: string) => void shown.push(text),
      nowMs: () => 0,
      sleep: () => Promise.resolve(),
    },
    connected: {
      on: recordingOn().on,
      remotes: [{ host: cp1, hold: over.hold ?? (() => Promise.resolve(held)) }],
      observedAtMs: -60_000,
      observeAgain: () => Promise.resolve(void order.push('observed again')),
      observations: {
        fleet: () => fleet,
        evaluate: (question: (known: typeof fleet) => unknown) =>
          Promise.resolve({ value: question(fleet), sawCluster: false }),
        expire: () => undefined,
      },
    },
    signal: new AbortController().signal,
    abort: () => undefined,
    emit: () => undefined,
    log: () => undefined,
    note: () => undefined,
    beginWait: () => () => undefined,
    display: () => Promise.resolve(undefined),
  } as unknown as Run;
  return { run, order, shown };
}

/** Work of one step, which makes its change once. `read`: what its diff asks of the hosts first. */
function workOf(order: string[], apply: () => void = () => undefined, read: () => void = () => undefined): Work {
  let isMade = false;
  const phase: Phase = {
    name: 'p',
    title: 'P',
    kind: 'linux',
    hosts: [cp1],
    steps: [
      {
        name: 's',
        diff: () => {
          read();
          if (isMade) return [];
          const change = () => {
            apply();
            isMade = true;
            order.push('changed');
            return Promise.resolve();
          };
          return [{ summary: 'change it', apply: change }];
        },
      },
    ],
  };
  return {
    phases: () => [phase],
    refuse: () => undefined,
    afterFailure: () => Promise.resolve(void order.push('taken back')),
  };
}

describe('a plan that is carried out', () => {
  test('is made again under the locks, and changes beyond it are shown and confirmed', async () => {
    const { run, order, shown } = runOf();
    expect(await carryOut(run, workOf(order), NOTHING)).toEqual({ code: 0, isDone: true });
    expect(order).toEqual(['observed again', 'changed', 'lock released']);
    expect(shown.join('')).toMatch(/^the plan grew meanwhile:\nP\n {2}cp1: change it/);
  });

  test('is made once a busy API tells all of it: nothing is changed before, and the run does not end', async () => {
    const { run, order } = runOf();
    let answers = 0;
    const busy = workOf(
      order,
      () => undefined,
      () => {
        if (++answers < 3) throw new FactError('cp1', 'systemPods', 'context deadline exceeded');
      },
    );
    expect(await carryOut(run, busy, NOTHING)).toEqual({ code: 0, isDone: true });
    expect(order).toEqual(['observed again', 'observed again', 'observed again', 'changed', 'lock released']);
  });

  test('ends the run if something is still unknown after half a minute', async () => {
    const { run, order } = runOf();
    let nowMs = 0;
    const silent: Work = {
      ...workOf(order),
      phases: () => {
        nowMs += 10_000;
        throw new FactError('cp1', 'systemPods', 'context deadline exceeded');
      },
    };
    const context = { ...run.context, nowMs: () => nowMs };
    await expect(carryOut({ ...run, context }, silent, NOTHING)).rejects.toThrow('could not tell systemPods');
    expect(order.filter((one) => one === 'observed again')).toHaveLength(3);
  });

  test('changes nothing and is not done when the operator declines the changes beyond it', async () => {
    const { run, order } = runOf({ answer: 'n' });
    expect(await carryOut(run, workOf(order), NOTHING)).toEqual({ code: 0, isDone: false });
    expect(order).toEqual(['observed again', 'lock released']);
  });

  test('may grow without a question when the operator typed the name of all that is destroyed', async () => {
    const { run, order } = runOf({ answer: 'n' });
    expect(await carryOut(run, { ...workOf(order), mayGrow: true }, NOTHING)).toMatchObject({ isDone: true });
  });

  test('is taken back after a failure while the locks are still held', async () => {
    const { run, order } = runOf();
    const failing = workOf(order, () => {
      throw new Refused('other-cluster', 'cp1', 'no');
    });
    expect(await carryOut(run, failing, NOTHING)).toEqual({ code: 7, isDone: false });
    expect(order).toEqual(['observed again', 'taken back', 'lock released']);
  });

  test('takes nothing back when another run holds a lock: it may be the work of that run', async () => {
    const { run, order } = runOf({
      hold: () => Promise.reject(new Refused('locked', 'cp1', 'locked: held by another run')),
    });
    await expect(carryOut(run, workOf(order), NOTHING)).rejects.toThrow('locked');
    expect(order).toEqual([]);
  });

  test('is refused by what the command refuses under the locks: nothing is changed', async () => {
    const { run, order } = runOf();
    const refused: Work = {
      ...workOf(order),
      refuse: () => {
        order.push('asked');
        throw new Refused('rotation-under-way', 'demo', 'another run has begun a rotation');
      },
    };
    await expect(carryOut(run, refused, NOTHING)).rejects.toThrow('another run has begun a rotation');
    expect(order).toEqual(['observed again', 'asked', 'taken back', 'lock released']);
  });

  test('is refused by what the plan under the locks would change', async () => {
    const { run, order } = runOf();
    const refusePlan = ({ changes }: { readonly changes: readonly unknown[] }): void => {
      throw new Refused('unplanned-change', 'demo', `${String(changes.length)} change too many`);
    };
    await expect(carryOut(run, { ...workOf(order), refusePlan }, NOTHING)).rejects.toThrow('1 change too many');
    expect(order).not.toContain('changed');
  });
});

describe('a change beyond the plan that is found while the run works', () => {
  /** A second step that has something to change when the first one has made its change. */
  function growing(order: string[]): Work {
    const work = workOf(order);
    let isMade = false;
    const later: Phase['steps'][number] = {
      name: 'later',
      diff: () => {
        if (isMade || !order.includes('changed')) return [];
        return [{ summary: 'go on', apply: () => Promise.resolve(void (isMade = true)) }];
      },
    };
    return {
      ...work,
      phases: () => work.phases().map((phase) => ({ ...phase, steps: [...phase.steps, later] }) as Phase),
    };
  }

  /** A run whose display notes when it has to make room for a question. */
  function watched(flags: Run['flags']) {
    const { run, order } = runOf();
    class Watching {
      static readonly nonTTY = true;
      private readonly tasks: Tasks;
      constructor(tasks: Tasks) {
        this.tasks = tasks;
      }
      render(): void {
        this.follow(this.tasks);
      }
      private follow(tasks: Tasks): void {
        for (const task of tasks) {
          task.on(ListrTaskEventType.SUBTASK, (below) => this.follow(below as unknown as Tasks));
          task.on(ListrTaskEventType.STATE, (state) => {
            if (state.startsWith('PROMPT')) order.push(state);
          });
        }
      }
      end(): void {
        order.push('display ends');
      }
    }
    const context = {
      ...run.context,
      ask: (question: string) => {
        order.push(question.includes('not in the plan') ? 'asked' : 'plan');
        return Promise.resolve('y');
      },
    };
    const display = () => Promise.resolve({ renderer: Watching as never });
    return { run: { ...run, context, display, flags } as Run, order };
  }

  test('is asked about on a terminal on which nothing is drawn meanwhile', async () => {
    const { run, order } = watched({});
    expect(await carryOut(run, growing(order), NOTHING)).toEqual({ code: 0, isDone: true });
    expect(order.slice(order.indexOf('changed'))).toEqual([
      ...['changed', 'PROMPT', 'asked', 'PROMPT_COMPLETED', 'display ends', 'lock released'],
    ]);
  });

  test('does not interrupt the drawing with --yes', async () => {
    const { run, order } = watched({ yes: true });
    expect(await carryOut(run, growing(order), NOTHING)).toEqual({ code: 0, isDone: true });
    expect(order.slice(order.indexOf('changed'))).toEqual(['changed', 'display ends', 'lock released']);
  });
});
