import { describe, expect, test } from 'vitest';
import { observedLinux } from '../../src/cluster/fleet/fleet.ts';
import { type ClusterView, PARTS_FOR_CHANGES } from '../../src/cluster/fleet/view.ts';
import { changesIn, plan } from '../../src/engine/plan.ts';
import type { Step } from '../../src/engine/step.ts';
import {
  CommandError,
  ConnectError,
  DeadlinePassed,
  FactError,
  Interrupted,
  NotConverged,
  Refused,
} from '../../src/errors.ts';
import type { On } from '../../src/ssh/remote.ts';
import { clusterOf } from '../fakes/cluster.ts';
import { host, linuxPhase, wants, world } from './world.ts';

const w1 = host('w1');
const w2 = host('w2');
const cp1 = host('cp1', 'control-plane');
const nodesOf = (cluster: ClusterView): number => (cluster.state === 'up' ? cluster.nodes.length : -1);

test('a run applies what differs, and a second run changes nothing', async () => {
  const here = world([w1, w2]);
  const phases = [linuxPhase('greet', [w1, w2], [wants('hello'), wants('world')])];
  expect((await here.run(phases)).changes).toBe(4);
  expect((await here.run(phases)).changes).toBe(0);
  expect(plan(phases, here.inventory, here.fleet()).changes).toEqual([]);
});

test('a run without changes observes nothing again', async () => {
  const here = world([w1]);
  here.words.get('w1')!.add('hello');
  await here.run([linuxPhase('greet', [w1], [wants('hello')])]);
  expect(here.looks).toEqual([]);
});

test('after a change only the facts that a diff reads are observed again', async () => {
  const here = world([w1]);
  await here.run([linuxPhase('greet', [w1], [wants('hello'), wants('world')])]);
  expect(here.looks).toEqual(['w1: images', 'w1: images']);
});

test('after a change that stays on its host the cluster is not observed again, after any other it is', async () => {
  const seen = async (touches?: 'host') => {
    const here = world([w1]);
    const step = wants('hello');
    const reads: Step = {
      ...step,
      diff: (target) =>
        target.fleet.cluster.state === 'absent'
          ? step.diff(target).map((change) => ({ ...change, ...(touches === undefined ? {} : { touches }) }))
          : [],
    };
    await here.run([linuxPhase('greet', [w1], [reads])]);
    return here.looks.filter((look) => look === 'cluster');
  };
  expect(await seen()).toEqual(['cluster']);
  expect(await seen('host')).toEqual([]);
});

test('what the next planned change may read of the cluster is observed together with what was changed', async () => {
  const here = world([w1], undefined, clusterOf({}));
  const ofNodes = (word: string): Step => {
    const step = wants(word);
    return { ...step, diff: (target) => (nodesOf(target.fleet.cluster) >= 0 ? step.diff(target) : []) };
  };
  await here.run([linuxPhase('greet', [w1], [ofNodes('hello'), ofNodes('world')])]);
  expect(here.words.get('w1')).toEqual(new Set(['hello', 'world']));
  expect(here.clusterParts).toEqual([PARTS_FOR_CHANGES, ['nodes']]);
});

test('the plan of bare hosts lists every change of the run', async () => {
  const here = world([w1]);
  const phases = [linuxPhase('greet', [w1], [wants('hello')])];
  expect(plan(phases, here.inventory, here.fleet()).changes.map(({ summary }) => summary)).toEqual([
    'say hello (found silence)',
  ]);
  await here.run(phases);
  expect(here.events.map(({ kind }) => kind)).not.toContain('unplanned');
});

test('a foreseen change stands in the plan; in its turn it is neither made nor waited for, only what is found then is made', async () => {
  const here = world([w1, w2]);
  const step = wants('world');
  const spread: Step = {
    ...step,
    diff: (target) =>
      target.facts.images.has('hello')
        ? step.diff(target)
        : [{ summary: 'say world, if hello was said', foreseen: true }],
  };
  const greeted = linuxPhase('greet', [w1], [wants('hello')]);
  const phases = [greeted, linuxPhase('verify', [w1, w2], [spread])];
  expect(changesIn(plan(phases, here.inventory, here.fleet()).changes)).toHaveLength(3);
  const { changes, failures } = await here.run(phases);
  expect([...failures]).toEqual([]);
  expect(changes).toBe(2);
  expect([...here.words.get('w1')!]).toEqual(['hello', 'world']);
  expect([...here.words.get('w2')!]).toEqual([]);
});

test('a change that is not in the confirmed plan asks for approval; without it the host stays unchanged', async () => {
  const here = world([w1]);
  const { failures } = await here.run([linuxPhase('greet', [w1], [wants('hello')])], { planned: 'nothing' });
  expect(failures.get('w1')).toBeInstanceOf(Refused);
  expect(here.words.get('w1')!.size).toBe(0);
  expect(here.events.map(({ kind }) => kind)).toContain('unplanned');
});

/** After the change the first `looks` at the fact fail. */
function deafAfterwards(looks: number): Step {
  const step = wants('hello');
  let left = looks;
  return {
    ...step,
    diff: (target) => {
      if (target.facts.images.has('hello') && left-- > 0)
        throw new FactError('w1', 'images', 'context deadline exceeded');
      return step.diff(target);
    },
  };
}

test('a fact that is unknown for a moment is observed again, and the wait is reported', async () => {
  const here = world([w1]);
  const { changes, failures } = await here.run([linuxPhase('greet', [w1], [deafAfterwards(3)])]);
  expect([...failures]).toEqual([]);
  expect(changes).toBe(1);
  const settling = here.events.filter(({ kind }) => kind === 'settling');
  expect(settling).toMatchObject([{ host: 'w1', summary: 'w1: could not tell images: context deadline exceeded' }]);
});

test('what a step waits for is reported every 10 s, with the time waited', async () => {
  const here = world([w1]);
  const slow: Step = {
    name: 'ready',
    settleMs: 60_000,
    diff: ({ facts }) => (facts.images.has('ready') ? [] : [{ summary: 'wait until w1 is Ready' }]),
  };
  await here.run([linuxPhase('verify', [w1], [slow])]);
  const waited = here.events.flatMap((event) => (event.kind === 'settling' ? [event.waitedMs] : []));
  expect(waited).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000]);
});

test('a fact that stays unknown fails its host after 30 s', async () => {
  const here = world([w1, w2]);
  const { failures } = await here.run([linuxPhase('greet', [w1, w2], [wants('hi'), deafAfterwards(Infinity)])]);
  expect(failures.get('w1')).toBeInstanceOf(FactError);
  // Twice a second at most: a look that takes longer is followed by a pause as long.
  expect(here.looks.length).toBeGreaterThan(30);
});

test('a host whose diff stays non-empty fails as not converged, with host, step and the pending changes', async () => {
  const here = world([w1]);
  const stubborn = { ...wants('never'), diff: () => [{ summary: 'say never', apply: () => Promise.resolve() }] };
  const { failures } = await here.run([linuxPhase('greet', [w1], [stubborn])]);
  const error = failures.get('w1') as NotConverged;
  expect(error).toBeInstanceOf(NotConverged);
  expect(error.message).toContain('w1: has-never');
  expect(error.exitCode).toBe(5);
});

/** A step that can only wait when it is asked the first times. */
function shownLate(): Step {
  let asked = 0;
  return {
    ...wants('hello'),
    settleMs: 10_000,
    diff: (target) => (++asked < 5 ? [{ summary: 'wait for the API' }] : wants('hello').diff(target)),
  };
}

test('what comes due when a step has waited for it to show is made, not waited for', async () => {
  const here = world([w1]);
  const { changes, failures } = await here.run([linuxPhase('greet', [w1], [shownLate()])]);
  expect([...failures.values()]).toEqual([]);
  expect(changes).toBe(1);
  expect(here.words.get('w1')).toEqual(new Set(['hello']));
});

test('… if it is approved: the plan had no more than the wait', async () => {
  const here = world([w1]);
  const { failures } = await here.run([linuxPhase('greet', [w1], [shownLate()])], { planned: 'nothing' });
  expect(String(failures.get('w1'))).toContain('not in the confirmed plan: say hello');
});

test('a step with a settle time is observed until its diff is empty', async () => {
  const here = world([w1]);
  let asked = 0;
  const slow = { name: 'slow', settleMs: 10_000, diff: () => (++asked > 5 ? [] : [{ summary: 'wait for w1' }]) };
  expect((await here.run([linuxPhase('greet', [w1], [slow])])).failures.size).toBe(0);
  expect(asked).toBe(6);
});

test('a worker that fails leaves the run, and the other hosts go on', async () => {
  const here = world([w1, w2]);
  const fragile = wants('hello', {
    apply: ({ name }) => (name === 'w1' ? Promise.reject(new Error('broken')) : undefined),
  });
  const { failures } = await here.run([
    linuxPhase('one', [w1, w2], [fragile]),
    linuxPhase('two', [w1, w2], [wants('more')]),
  ]);
  expect([...failures.keys()]).toEqual(['w1']);
  expect([...here.words.get('w2')!]).toEqual(['hello', 'more']);
  expect([...here.words.get('w1')!]).toEqual([]);
});

test('a control plane that fails ends the run after its phase', async () => {
  const here = world([cp1, w1]);
  const fragile = wants('hello', {
    apply: ({ name }) => (name === 'cp1' ? Promise.reject(new Error('broken')) : undefined),
  });
  await here.run([linuxPhase('one', [cp1, w1], [fragile]), linuxPhase('two', [w1], [wants('more')])]);
  expect([...here.words.get('w1')!]).toEqual(['hello']);
});

test('an overlapping phase does not wait for other hosts, and the phase after it does', async () => {
  const here = world([w1, w2]);
  let release!: () => void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const order: string[] = [];
  const slow = wants('one', { apply: ({ name }) => (name === 'w1' ? gate : undefined) });
  const note = (word: string) =>
    wants(word, {
      apply: ({ name }) => {
        order.push(`${name} ${word}`);
        if (name === 'w2' && word === 'two') release();
      },
    });
  await here.run([
    linuxPhase('a', [w1, w2], [slow]),
    linuxPhase('b', [w1, w2], [note('two')], { overlaps: true }),
    linuxPhase('c', [w2], [note('three')]),
  ]);
  expect(order).toEqual(['w2 two', 'w1 two', 'w2 three']);
});

test('a phase with concurrency 1 observes nothing again for hosts without pending changes', async () => {
  const here = world([w1, w2]);
  here.words.get('w1')!.add('one');
  await here.run([linuxPhase('a', [w1, w2], [wants('one'), wants('two')], { concurrency: 1 })]);
  expect([...here.words.get('w2')!]).toEqual(['one', 'two']);
  const again = world([w1, w2]);
  for (const name of ['w1', 'w2']) again.words.get(name)!.add('one');
  await again.run([linuxPhase('a', [w1, w2], [wants('one')], { concurrency: 1 })]);
  expect(again.looks).toEqual([]);
});

test('a phase with concurrency 1 changes host by host, and observes again before each host unless it just did', async () => {
  const here = world([w1, w2]);
  const all: Step = {
    name: 'all',
    diff: ({ host: mine, fleet }) => {
      const said = observedLinux(fleet).filter(({ facts }) => facts.images.has('one'));
      if (said.some((one) => one.host.name === mine.name)) return [];
      const apply = (on: On) => (on(mine) as unknown as { say: (word: string) => Promise<void> }).say('one');
      return [{ summary: `the ${String(said.length + 1)}. says one`, apply }];
    },
  };
  const settled = (ms: number): Step => ({
    name: 'settled',
    diff: () => {
      here.pass(ms);
      return [];
    },
  });
  const changing = () => here.events.flatMap((event) => (event.kind === 'changing' ? [event.summary] : []));
  await here.run([linuxPhase('a', [w1, w2], [all, settled(1000)], { concurrency: 1 })]);
  expect(changing()).toEqual(['the 1. says one', 'the 2. says one']);
  const twice = here.looks.filter((look) => look === 'w1: images').length;
  for (const said of here.words.values()) said.clear();
  here.looks.length = 0;
  here.events.length = 0;
  await here.run([linuxPhase('a', [w1, w2], [all, settled(4000)], { concurrency: 1 })]);
  expect(changing()).toEqual(['the 1. says one', 'the 2. says one']);
  expect(here.looks.filter((look) => look === 'w1: images')).toHaveLength(twice + 1);
});

test('a control plane that fails ends a phase that goes host by host: those that wait for their turn change nothing', async () => {
  const cp2 = host('cp2', 'control-plane');
  const here = world([cp1, cp2]);
  const failing = wants('one', {
    apply: () => {
      throw new Error('broken');
    },
  });
  const { failures } = await here.run([linuxPhase('a', [cp1, cp2], [failing], { concurrency: 1 })]);
  expect([...failures.keys()]).toEqual(['cp1']);
});

test('an interrupted run finishes the running change and starts no other', async () => {
  const here = world([w1]);
  const controller = new AbortController();
  const stop = wants('one', { apply: () => controller.abort(new Interrupted('interrupted')) });
  const running = here.run([linuxPhase('a', [w1], [stop, wants('two')])], { signal: controller.signal });
  expect((await running).stopped).toEqual(new Interrupted('interrupted'));
  expect([...here.words.get('w1')!]).toEqual(['one']);
});

describe('at the deadline of the run', () => {
  const passed = new DeadlinePassed('not done within 1 min');

  test('reports what a host waited for like a failure, and reports only finished phases as done', async () => {
    const here = world([cp1, w1]);
    const controller = new AbortController();
    const waits: Step = {
      name: 'node-ready',
      settleMs: 300_000,
      diff: ({ host: mine, facts }) => {
        // Reading a fact has it observed again.
        if (mine.name === 'w1' && facts.images.size >= 0 && here.looks.length > 4) controller.abort(passed);
        return mine.name === 'w1' ? [{ summary: 'wait until w1 is Ready' }] : [];
      },
    };
    const phases = [linuxPhase('a', [cp1, w1], [wants('one')]), linuxPhase('b', [cp1, w1], [waits])];
    const { failures, stopped } = await here.run(phases, { signal: controller.signal });
    expect(stopped).toBe(passed);
    expect([...failures].map(([name, error]) => `${name}: ${error.message}`)).toEqual([
      'w1: w1: node-ready does not hold after its changes; still needed: wait until w1 is Ready',
    ]);
  });

  test('does not report a phase as done that hosts left unfinished', async () => {
    const here = world([w1, w2]);
    const controller = new AbortController();
    const stop = wants('one', { apply: () => controller.abort(passed) });
    const { stopped } = await here.run([linuxPhase('a', [w1, w2], [stop, wants('two')])], {
      signal: controller.signal,
    });
    expect(stopped).toBe(passed);
    expect(here.events.map(({ kind }) => kind)).not.toContain('phase-done');
  });
});

test.each([
  ['a tenth of the workers', undefined, 2],
  [
    'as many workers as rollout.maxUnavailable says',
    { maxUnavailable: { workers: 7 }, drainTimeoutMs: 1, pauseMs: 0 },
    7,
  ],
  ['that share of them', { maxUnavailable: { percent: 25 }, drainTimeoutMs: 1, pauseMs: 0 }, 5],
] as const)('disruptive changes run on at most %s at a time', async (_, rollout, expected) => {
  const workers = Array.from({ length: 20 }, (_, i) => host(`w${String(i)}`));
  const here = world(workers, rollout);
  let now = 0;
  let most = 0;
  const restart = wants('restarted', {
    disrupts: true,
    apply: async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
    },
  });
  await here.run([linuxPhase('a', workers, [restart])]);
  expect(most).toBe(expected);
  expect([...here.words.values()].every((said) => said.has('restarted'))).toBe(true);
});

test('a run that ended after any of its changes is continued by the next run, with the same result', async () => {
  const phases = () => [
    linuxPhase('first', [cp1, w1], [wants('a'), wants('b')]),
    linuxPhase('then', [w1, w2], [wants('c')], { concurrency: 1 }),
  ];
  const said = (here: ReturnType<typeof world>) =>
    [...here.words].map(([name, words]) => `${name}: ${[...words].join(' ')}`);
  const whole = world([cp1, w1, w2]);
  const { changes } = await whole.run(phases());
  expect(changes).toBe(6);
  for (let after = 1; after <= changes; after += 1) {
    const here = world([cp1, w1, w2]);
    const controller = new AbortController();
    const ending = here.events.push.bind(here.events);
    let seen = 0;
    here.events.push = (...events) => {
      seen += events.filter(({ kind }) => kind === 'changed').length;
      if (seen >= after) controller.abort(new Interrupted('killed'));
      return ending(...events);
    };
    expect((await here.run(phases(), { signal: controller.signal })).stopped?.message).toBe('killed');
    await here.run(phases());
    expect(said(here), `after ${String(after)}`).toEqual(said(whole));
    expect((await here.run(phases())).changes).toBe(0);
  }
});

describe('a host that is restarted under a change', () => {
  const lost = (name: string, status: 'vanished' | 'lost' | 1 = 'vanished') =>
    new CommandError(name, 'work', { status, stdout: '', stderr: 'the job is not there any more' });

  test('is observed again, and the phase goes on with the pending changes', async () => {
    const here = world([w1]);
    let times = 0;
    const step = wants('world', {
      apply: ({ name }) => {
        times += 1;
        if (times > 1) return;
        here.restart(name);
        throw lost(name);
      },
    });
    const { failures } = await here.run([linuxPhase('greet', [w1], [wants('hello'), step])]);
    expect([...failures]).toEqual([]);
    expect([...here.words.get('w1')!]).toEqual(['hello', 'world']);
    expect(here.events.some((event) => event.kind === 'settling' && event.summary.includes('w1 was restarted'))).toBe(
      true,
    );
  });

  test('fails when it is restarted a third time', async () => {
    const here = world([w1]);
    let times = 0;
    const step = wants('world', {
      apply: ({ name }) => {
        times += 1;
        here.restart(name);
        throw lost(name);
      },
    });
    const { failures } = await here.run([linuxPhase('greet', [w1], [step])]);
    expect(failures.get('w1')!.message).toContain('the job is not there any more');
    expect(times).toBe(3);
  });

  test('does not fail either when only the connection was lost during a command', async () => {
    const here = world([w1]);
    let times = 0;
    const step = wants('world', {
      apply: ({ name }) => (times++ === 0 ? Promise.reject(lost(name, 'lost')) : undefined),
    });
    const { failures } = await here.run([linuxPhase('greet', [w1], [step])]);
    expect([...failures]).toEqual([]);
    expect([...here.words.get('w1')!]).toEqual(['world']);
    expect(here.events.some((event) => event.kind === 'settling' && event.summary.includes('connection to w1'))).toBe(
      true,
    );
  });

  test('fails when the command ended with a status before the restart', async () => {
    const here = world([w1]);
    let times = 0;
    const step = wants('world', {
      apply: ({ name }) => {
        times += 1;
        here.restart(name);
        throw lost(name, 1);
      },
    });
    expect((await here.run([linuxPhase('greet', [w1], [step])])).failures.size).toBe(1);
    expect(times).toBe(1);
  });

  test('fails when the host was not restarted', async () => {
    const here = world([w1]);
    const step = wants('world', { apply: ({ name }) => Promise.reject(lost(name)) });
    const { failures } = await here.run([linuxPhase('greet', [w1], [step])]);
    expect(failures.get('w1')).toBeInstanceOf(CommandError);
    expect(here.events.some(({ kind }) => kind === 'settling')).toBe(false);
  });
});

describe('a run with locks', () => {
  test('changes nothing while they are not held', async () => {
    const here = world([w1]);
    const { failures } = await here.run([linuxPhase('greet', [w1], [wants('hello')])], {
      held: () => Promise.reject(new Refused('locked', 'w1', 'locked: held by bob')),
    });
    expect(failures.get('w1')!.message).toContain('held by bob');
    expect([...here.words.get('w1')!]).toEqual([]);
  });

  test('observes all hosts again before the next change after they were lost', async () => {
    const here = world([w1]);
    const applied: string[] = [];
    const step = wants('hello', { apply: ({ name }) => void applied.push(name) });
    let asked = 0;
    const { failures } = await here.run([linuxPhase('greet', [w1], [step])], {
      held: () => {
        asked += 1;
        // The lock was lost between the observation and the change, and another host reported it.
        if (asked === 2) here.words.get('w1')!.add('hello');
        return Promise.resolve(asked === 1 ? 0 : 1);
      },
    });
    expect([...failures]).toEqual([]);
    expect(applied).toEqual([]);
  });
});

describe('a phase that verifies', () => {
  const built = wants('built');
  /** Waits for the word without making it. */
  const waitsFor = (word: string, settleMs = 60_000): Step => ({
    name: `waits-for-${word}`,
    settleMs,
    diff: ({ facts }) => (facts.images.has(word) ? [] : [{ summary: `wait for ${word}` }]),
  });
  const verifying = (hosts: readonly ReturnType<typeof host>[], steps: readonly Step[]) =>
    linuxPhase('verify', hosts, steps, { verifies: true });

  test('notices a host that was restarted after its phases, while the run waited for other hosts', async () => {
    const here = world([w1, w2]);
    const late: Step = {
      name: 'late',
      diff: ({ host: mine }) => {
        if (mine.name === 'w2' && here.words.get('w1')!.has('built')) {
          here.restart('w1');
          here.pass(20_000);
        }
        return [];
      },
    };
    const { failures } = await here.run([
      linuxPhase('build', [w1], [built]),
      linuxPhase('look', [w1], [waitsFor('built')]),
      linuxPhase('slow', [w2], [late]),
      verifying([w1, w2], [waitsFor('built', 1000)]),
    ]);
    expect(failures.get('w1')).toBeInstanceOf(NotConverged);
  });

  test('is repeated when a connection was lost meanwhile', async () => {
    const here = world([w1]);
    let lost = 0;
    let looks = 0;
    const step: Step = {
      name: 'proof',
      diff: () => {
        looks += 1;
        if (looks === 1) lost = 1;
        return [];
      },
    };
    await here.run([verifying([w1], [step])], { held: () => Promise.resolve(lost) });
    expect(looks).toBe(2);
  });

  test('is repeated when it waited: what was verified before may have restarted meanwhile', async () => {
    const here = world([w1]);
    const looks: string[] = [];
    const first: Step = { name: 'first', diff: () => (looks.push('first'), []) };
    const slow: Step = {
      name: 'slow',
      settleMs: 60_000,
      diff: () => (looks.push('slow'), looks.length < 6 ? [{ summary: 'wait for it' }] : []),
    };
    await here.run([verifying([w1], [first]), verifying([w1], [slow])]);
    expect(looks.lastIndexOf('first')).toBeGreaterThan(looks.indexOf('slow'));
    expect(looks.slice(-2)).toEqual(['first', 'slow']);
  });

  test('fails for a worker that does not come back', async () => {
    const here = world([w1, w2]);
    const gone = new ConnectError('w1', 'no answer', { retryable: true });
    let verified = 0;
    const step: Step = { name: 'proof', diff: () => ((verified += 1), []) };
    const held = (name: string) => (name === 'w1' && verified >= 2 ? Promise.reject(gone) : Promise.resolve(0));
    const { failures } = await here.run([verifying([w1, w2], [step])], { held });
    expect([...failures]).toEqual([['w1', gone]]);
  });
});
