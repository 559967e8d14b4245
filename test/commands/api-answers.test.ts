import { expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { waitForApi } from '../../src/commands/upgrade.ts';
import type { Run } from '../../src/session/run.ts';
import { clusterOf } from '../fakes/cluster.ts';

const down: ClusterView = { state: 'down', reason: 'cp1: connection refused' };

/** A run that sees these clusters one after the other, the last one for ever; what it said and how long it waited, in ms. */
async function waited(...seen: readonly ClusterView[]) {
  const said: string[] = [];
  let [at, ms] = [0, 0];
  const run = {
    connected: {
      observations: { fleet: () => ({ cluster: seen[Math.min(at, seen.length - 1)]! }) },
      observeAgain: () => {
        at += 1;
        return Promise.resolve();
      },
    },
    context: {
      err: (text: string) => said.push(text),
      nowMs: () => ms,
      sleep: (more: number) => {
        ms += more;
        return Promise.resolve();
      },
    },
    signal: new AbortController().signal,
  };
  await waitForApi(run as unknown as Run);
  return { said: said.join(''), ms };
}

test('an API that answers is not waited for', async () => {
  expect(await waited(clusterOf())).toEqual({ said: '', ms: 0 });
});

test('one that comes back is waited for, and said so once', async () => {
  expect(await waited(down, down, clusterOf())).toEqual({
    said: 'the API does not answer (cp1: connection refused): waiting for it, at most 3 minutes\n',
    ms: 5_000,
  });
});

test('one that stays away ends the wait after 3 minutes; the command then tells why', async () => {
  expect((await waited(down)).ms).toBe(180_000);
});
