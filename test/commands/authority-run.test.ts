import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changeAuthorities } from '../../src/commands/authority-run.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Run } from '../../src/session/run.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, w1, w2 } from '../fakes/cluster.ts';

/** A change of authorities on hosts with these clocks, in ms ahead of this machine's; returns the questions that were asked. */
async function changed(clocks: readonly [number, number, number]): Promise<readonly string[]> {
  const cwd = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const hosts = [cp1, w1, w2];
  const fleet = fleetIn(clusterOf(), ...hosts.map((host, at) => joinedHost(host, { clockOffsetMs: clocks[at]! })));
  const asked: string[] = [];
  const run = {
    inventory: inventoryOf({ hosts, ignoreChecks: ['clock-skew'] }),
    flags: { ignoreCheck: ['clock-skew'] },
    context: {
      ...{ cwd, env: {}, canAsk: true, err: () => undefined, out: () => undefined, nowMs: () => 0 },
      ask: (question: string) => {
        asked.push(question);
        return Promise.resolve('n');
      },
    },
    connected: {
      observations: {
        fleet: () => fleet,
        evaluate: (question: (known: typeof fleet) => unknown) => Promise.resolve({ value: question(fleet) }),
      },
    },
    note: () => undefined,
    emit: () => undefined,
    signal: new AbortController().signal,
  } as unknown as Run;
  const phase: Phase = {
    ...{ name: 'p', title: 'P', kind: 'linux', hosts: [cp1] },
    steps: [{ name: 's', diff: () => [{ summary: 'place it', apply: () => Promise.resolve() }] }],
  };
  await changeAuthorities(
    run,
    { kubeconfig: join(cwd, 'admin.conf') },
    {
      refuse: () => undefined,
      parts: [{ phases: () => [phase], question: 'Change them?' }],
    },
  );
  return asked;
}

test('authorities change only while all clocks agree, and no check can be ignored there', async () => {
  const refused = changed([0, 0, 600_000]);
  await expect(refused).rejects.toThrow(
    /^authorities and keys change only while all clocks agree\n[^]*w2[^]*600 s ahead/,
  );
  await expect(refused).rejects.toMatchObject({ exitCode: 6 });
  expect(await changed([0, 0, 20_000])).toEqual([expect.stringContaining('Change them?')]);
});
