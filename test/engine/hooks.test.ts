import { describe, expect, test } from 'vitest';
import { cordoned, drainForAWhile } from '../../src/engine/drain.ts';
import { runHooks, runHooksAfter } from '../../src/engine/hooks.ts';
import { uncordoned } from '../../src/engine/workloads.ts';
import { CommandError } from '../../src/errors.ts';
import { type Hook, type HookName, type Hooks, NO_HOOKS, type Variables } from '../../src/inventory/host-settings.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodesOf, targetOf, w1 } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';

const hook = (over: Partial<Hook> = {}): Hook => ({
  command: './tell',
  on: 'operator',
  hosts: ['w1'],
  timeoutMs: 5000,
  ...over,
});

/** Hooks, and what they ran on the operator's machine. */
function hooksOf(of: Partial<Record<HookName, readonly Hook[]>>, fails: readonly string[] = []) {
  const ran: (readonly [command: string, variables: Variables, timeoutMs: number])[] = [];
  const hooks: Hooks = {
    of: { ...NO_HOOKS.of, ...of },
    action: 'reboot',
    runHere: (command, variables, timeoutMs) => {
      ran.push([command, variables, timeoutMs]);
      return fails.includes(command) ? Promise.reject(new Error('exit status 3\nno ceph')) : Promise.resolve();
    },
  };
  return { inventory: inventoryOf({ hooks }), ran };
}

describe('a hook', () => {
  test('runs on the operator’s machine and learns cluster, host, role and action', async () => {
    const { inventory, ran } = hooksOf({ beforeChange: [hook()] });
    const { on, sent } = recordingOn();
    await runHooks(inventory, 'beforeChange', w1, on);
    expect(ran).toEqual([
      [
        './tell',
        {
          KBUILD_CLUSTER: 'demo',
          KBUILD_HOOK: 'beforeChange',
          KBUILD_ACTION: 'reboot',
          KBUILD_HOST: 'w1',
          KBUILD_ADDRESS: w1.address,
          KBUILD_ROLE: 'worker',
          KBUILD_OS: 'linux',
        },
        5000,
      ],
    ]);
    expect(sent).toEqual([]);
  });

  test('runs on the host as a job with its own deadline, every value quoted', async () => {
    const { inventory, ran } = hooksOf({ beforeChange: [hook({ on: 'host', command: "echo 'a b' $KBUILD_HOST" })] });
    const { on, sent } = recordingOn();
    await runHooks(inventory, 'beforeChange', w1, on);
    expect(ran).toEqual([]);
    expect(sent).toMatchObject([{ host: 'w1', kind: 'job', name: 'hook', title: 'hook beforeChange' }]);
    expect('script' in sent[0]! ? sent[0].script : '').toContain(
      String.raw`/bin/sh -c 'echo '\''a b'\'' $KBUILD_HOST'`,
    );
  });

  test('runs for its hosts only, in the order of the inventory, and the first failure ends them', async () => {
    const failing = [hook({ command: 'a', hosts: ['cp1'] }), hook({ command: 'b' }), hook({ command: 'c' })];
    const { inventory, ran } = hooksOf({ afterUncordon: failing }, ['b']);
    const { on } = recordingOn();
    const error: unknown = await runHooks(inventory, 'afterUncordon', w1, on).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CommandError);
    expect((error as CommandError).message).toContain('w1: status failed: hook afterUncordon\nexit status 3\nno ceph');
    expect((error as CommandError).remedy).toContain('or take it out of `hooks`');
    expect(ran.map(([command]) => command)).toEqual(['b']);
  });

  test('about a Windows host runs on the operator’s machine', async () => {
    const { inventory, ran } = hooksOf({ beforeChange: [hook({ hosts: ['win1'] })] });
    await runHooks(inventory, 'beforeChange', windowsHost('win1'), recordingOn().on);
    expect(ran[0]![1]).toMatchObject({ KBUILD_HOST: 'win1', KBUILD_OS: 'windows' });
  });

  test("after a run gets the run's exit code; a hook that fails is reported, and the others run all the same", async () => {
    const { inventory, ran } = hooksOf({ afterRun: [hook({ command: 'a' }), hook({ command: 'b' })] }, ['a']);
    expect(await runHooksAfter(inventory, 5)).toEqual(['hook afterRun failed: exit status 3\nno ceph']);
    expect(ran.map(([command, { KBUILD_EXIT }]) => [command, KBUILD_EXIT])).toEqual([
      ['a', '5'],
      ['b', '5'],
    ]);
  });
});

describe('around a drain', () => {
  const node = (over = {}) => clusterOf({ nodes: nodesOf(cp1, w1).map((one) => ({ ...one, ...over })) });
  const targetIn = (inventory: ReturnType<typeof inventoryOf>, cluster = node()) =>
    targetOf(inventory, w1, fleetIn(cluster, joinedHost(cp1), joinedHost(w1)));
  const drain = drainForAWhile({ drain: { timeoutMs: 1000 }, losesPods: false }, () => '');

  test('the plan names the hooks', () => {
    const { inventory } = hooksOf({ beforeDrain: [hook()], afterUncordon: [hook()] });
    expect(drain.diff(targetIn(inventory))[0]!.summary).toBe('run the hook beforeDrain, then drain w1 (found Ready)');
    expect(uncordoned(() => true).diff(targetIn(inventory))[0]!.summary).toBe(
      'let w1 take pods again, then run the hook afterUncordon',
    );
    expect(drain.diff(targetIn(inventoryOf()))[0]!.summary).toBe('drain w1 (found Ready)');
  });

  test('a hook that fails keeps the node from being cordoned and drained', async () => {
    for (const step of [cordoned, drain]) {
      const { inventory } = hooksOf({ beforeDrain: [hook()] }, ['./tell']);
      const { on, sent } = recordingOn();
      await expect(step.diff(targetIn(inventory))[0]!.apply!(on)).rejects.toThrow('hook beforeDrain');
      expect(sent).toEqual([]);
    }
  });

  test('the hook before it runs once for cordon and drain, and again for the next drain', async () => {
    const { inventory, ran } = hooksOf({ beforeDrain: [hook()] });
    const { on } = recordingOn();
    for (const step of [cordoned, drain, uncordoned(() => true), drain])
      await step.diff(targetIn(inventory))[0]!.apply!(on);
    expect(ran).toHaveLength(2);
  });

  test('the notes of a drain stay until the hook after it has ended, so that the next run repeats one that failed', async () => {
    const patches = async (fails: readonly string[]) => {
      const { inventory } = hooksOf({ afterUncordon: [hook()] }, fails);
      const { on, sent } = recordingOn();
      const [change] = uncordoned(() => true).diff(targetIn(inventory));
      await change!.apply!(on).catch(() => undefined);
      return sent.map((one) => ('script' in one ? /-p '(.*)'/.exec(one.script)?.[1] : undefined));
    };
    expect(await patches(['./tell'])).toEqual(['{"spec":{"unschedulable":null}}']);
    expect(await patches([])).toEqual([
      '{"spec":{"unschedulable":null}}',
      expect.stringContaining('"annotations"') as unknown as string,
    ]);
  });

  test('a node that an operator has cordoned stays so, and no hook says otherwise', async () => {
    const { inventory, ran } = hooksOf({ afterUncordon: [hook()] });
    const { on } = recordingOn();
    const [change] = uncordoned(() => true).diff(targetIn(inventory, node({ unschedulable: true })));
    await change!.apply!(on);
    expect(change!.summary).toBe('leave w1 cordoned, as an operator wants it');
    expect(ran).toEqual([]);
  });
});
