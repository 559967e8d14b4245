import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Run } from '../../src/cli/run.ts';
import { snapshotBefore, snapshotFolder } from '../../src/cli/snapshots.ts';
import type { On } from '../../src/remote/remote.ts';
import { clusterOf, cp1, fleetOf, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const STATUS = '{"hash":1,"revision":1439,"totalKey":465,"totalSize":2658304,"version":"3.6.0"}';

test('snapshots before changes of the members: the newest five are kept, private, each with what it is', async () => {
  const state = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  let nowMs = Date.parse('2026-11-21T16:50:45.000Z');
  const run = {
    context: { env: { XDG_STATE_HOME: state }, cwd: state, nowMs: () => (nowMs += 1) },
    inventory: inventoryOf(),
    runId: 'run1',
    connected: { watch: { fleet: () => fleetOf([], clusterOf()) } },
  } as unknown as Run;
  const on = ((host) => ({
    ...recordingOn({ job: () => STATUS }).on(host),
    download: (_from: string, to: string) => {
      writeFileSync(to, 'snapshot', { mode: 0o644 });
      return Promise.resolve();
    },
  })) as On;
  const folder = snapshotFolder(run);
  const before = snapshotBefore(run);
  await before(on, cp1, 'before cp2 joined');
  // Somebody's own is never taken away.
  writeFileSync(join(folder, 'mine.db'), '');
  for (let n = 2; n <= 7; n++) await before(on, cp1, `change ${String(n)}`);
  const automatic = readdirSync(folder).filter((name) => name.startsWith('auto-')).sort(); // prettier-ignore
  const told = automatic
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as object);
  expect(automatic).toHaveLength(10);
  for (const name of automatic) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(told).toMatchObject(
    [3, 4, 5, 6, 7].map((n) => ({ reason: `change ${String(n)}`, through: 'cp1', keys: 465 })),
  );
  expect(readdirSync(folder)).toContain('mine.db');
});
