import { describe, expect, test } from 'vitest';
import { runtimePhases } from '../fakes/parts-of-up.ts';
import { up } from '../../src/commands/up.phases.ts';
import { linuxNodes } from '../../src/inventory/hosts.ts';
import { inventoryOf, problemsOf } from '../inventory/load.ts';

/** A control plane and nine workers. */
const text = (rollout: string): string => `name: prod
kubernetes: { version: "1.36.3" }
${rollout}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
${Array.from({ length: 9 }, (_, i) => `  - { name: w${String(i)}, address: 10.0.0.2${String(i)}, role: worker }`).join('\n')}
`;

const kubeletsAtOnce = async (rollout: string): Promise<number | undefined> =>
  up(await inventoryOf(text(rollout))).find(({ name }) => name === 'kubelets')!.concurrency;

describe('rollout', () => {
  test('is a tenth of the workers and five minutes if the inventory says nothing', async () => {
    expect((await inventoryOf(text(''))).rollout).toEqual({
      maxUnavailable: { percent: 10 },
      drainTimeoutMs: 300_000,
      pauseMs: 0,
    });
    expect((await inventoryOf(text('rollout: { maxUnavailable: 3, drainTimeout: 90s }'))).rollout).toEqual({
      maxUnavailable: { workers: 3 },
      drainTimeoutMs: 90_000,
      pauseMs: 0,
    });
    expect((await inventoryOf(text('rollout: { maxUnavailable: 25%, drainTimeout: 1h, pause: 10m }'))).rollout).toEqual(
      {
        maxUnavailable: { percent: 25 },
        drainTimeoutMs: 3_600_000,
        pauseMs: 600_000,
      },
    );
  });

  test.each([
    ['', 1],
    ['rollout: { maxUnavailable: 3 }', 3],
    ['rollout: { maxUnavailable: 50% }', 5],
    // At least one, or nothing would ever change.
    ['rollout: { maxUnavailable: 1% }', 1],
  ])('%s: kubelets of ten nodes are configured %i at once', async (rollout, expected) =>
    expect(await kubeletsAtOnce(rollout)).toBe(expected),
  );

  test('never lets more than one host change its runtime at a time: each is drained', async () => {
    const inventory = await inventoryOf(text('rollout: { maxUnavailable: 100% }'));
    expect(runtimePhases(inventory).map(({ concurrency }) => concurrency)).toEqual([1]);
    expect(linuxNodes(inventory)).toHaveLength(10);
  });

  test.each([
    ['maxUnavailable: 0', /rollout\.maxUnavailable/],
    ['maxUnavailable: 0%', /rollout\.maxUnavailable/],
    ['maxUnavailable: 120%', /rollout\.maxUnavailable/],
    ['drainTimeout: 0s', /rollout\.drainTimeout: must be seconds, minutes or hours, e\.g\. "10m"/],
    ['drainTimeout: 5', /rollout\.drainTimeout/],
    ['pause: 30', /rollout\.pause/],
    ['pause: 1d', /rollout\.pause: must be seconds, minutes or hours, e\.g\. "10m"/],
    ['pause: 25h', /rollout\.pause: must be at most 24h/],
  ])('refuses %s', async (setting, message) =>
    expect((await problemsOf(text(`rollout: { ${setting} }`))).join('\n')).toMatch(message),
  );
});
