import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataKept, keptBefore, snapshotBefore, snapshotFolder } from '../../src/commands/snapshots.ts';
import type { Run } from '../../src/session/run.ts';
import type { On } from '../../src/ssh/remote.ts';
import { clusterOf, cp1, factsOf, fleetIn, fleetOf, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const STATUS = '{"hash":1,"revision":1439,"totalKey":465,"totalSize":2658304,"version":"3.6.0"}';

test('kbuild keeps its newest five snapshots of etcd, 0600, each with a description, and no others are deleted', async () => {
  const state = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  let nowMs = Date.parse('2026-11-21T16:50:45.000Z');
  const newRun = () =>
    ({
      context: { env: { XDG_STATE_HOME: state }, cwd: state, nowMs: () => (nowMs += 1) },
      inventory: inventoryOf(),
      runId: 'run1',
      connected: { observations: { fleet: () => fleetIn(clusterOf()) } },
    }) as unknown as Run;
  const on = ((host) => ({
    ...recordingOn({ job: () => STATUS }).on(host),
    download: (_from: string, to: string) => {
      writeFileSync(to, 'snapshot', { mode: 0o644 });
      return Promise.resolve();
    },
  })) as On;
  const folder = snapshotFolder(newRun());
  await snapshotBefore(newRun())(on, cp1, 'before cp2 joined');
  // A file that kbuild did not write.
  writeFileSync(join(folder, 'mine.db'), '');
  for (let n = 2; n <= 7; n++) await snapshotBefore(newRun())(on, cp1, `change ${String(n)}`);
  const automatic = readdirSync(folder)
    .filter((name) => name.startsWith('auto-'))
    .sort();
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

test('an upgrade keeps one snapshot for each version, and five copies of each host, of hosts whose names begin alike too', async () => {
  const state = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  let nowMs = Date.parse('2026-11-21T16:50:45.000Z');
  const newRun = () =>
    ({
      context: { env: { XDG_STATE_HOME: state }, cwd: state, nowMs: () => (nowMs += 1) },
      inventory: inventoryOf(),
      runId: 'run1',
      connected: { observations: { fleet: () => fleetIn(clusterOf(), [cp1, factsOf()]) } },
    }) as unknown as Run;
  const on = ((host) => ({
    ...recordingOn({ job: () => STATUS }).on(host),
    download: (_from: string, to: string) => {
      writeFileSync(to, 'data', { mode: 0o644 });
      return Promise.resolve();
    },
  })) as On;
  const alike = { ...cp1, name: 'cp1-b' };
  for (const version of ['1.35.8', '1.36.4', '1.37.1', '1.37.2', '1.37.3', '1.37.4']) {
    const keep = keptBefore(newRun());
    for (const host of [cp1, alike]) await keep(on, host, version);
  }
  const folder = snapshotFolder(newRun());
  const files = readdirSync(folder);
  const reasons = files
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { reason: string }).reason);
  expect(reasons).toEqual(
    ['1.36.4', '1.37.1', '1.37.2', '1.37.3', '1.37.4'].map((one) => `before the upgrade to ${one}`),
  );
  for (const name of ['cp1', 'cp1-b']) {
    const copies = files.filter((file) => file.startsWith(`etc-kubernetes-${name}@`));
    expect(copies, name).toHaveLength(5);
    for (const file of copies) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  }
});

test('a run keeps every snapshot that it takes, also beside files of a clock that was ahead', async () => {
  const state = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  let nowMs = Date.parse('2026-11-21T16:50:45.000Z');
  const run = {
    context: { env: { XDG_STATE_HOME: state }, cwd: state, nowMs: () => (nowMs += 1) },
    inventory: inventoryOf(),
    runId: 'run1',
    connected: { observations: { fleet: () => fleetIn(clusterOf()) } },
  } as unknown as Run;
  const on = ((host) => ({
    ...recordingOn({ job: () => STATUS }).on(host),
    download: (_from: string, to: string) => {
      writeFileSync(to, 'snapshot', { mode: 0o644 });
      return Promise.resolve();
    },
  })) as On;
  const folder = snapshotFolder(run);
  mkdirSync(folder, { recursive: true });
  for (let n = 1; n <= 5; n++) writeFileSync(join(folder, `auto-2099010${String(n)}T000000-000.db`), 'old');
  for (let n = 1; n <= 6; n++) await snapshotBefore(run)(on, cp1, `change ${String(n)}`);
  const kept = readdirSync(folder)
    .filter((name) => name.endsWith('.db'))
    .sort();
  expect(kept).toEqual([1, 2, 3, 4, 5, 6].map((n) => `auto-20261121T165045-${String(n * 2 - 1).padStart(3, '0')}.db`));
});

describe('before a half-finished join is undone', () => {
  const keeping = async (answers: Parameters<typeof recordingOn>[0]) => {
    const state = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
    const noted: string[] = [];
    const facts = factsOf({ etcdFolder: '/data/etcd' });
    const run = {
      context: { env: { XDG_STATE_HOME: state }, cwd: state, nowMs: () => Date.parse('2026-11-21T16:50:45.000Z') },
      inventory: inventoryOf(),
      runId: 'run1',
      emit: ({ summary }: { readonly summary: string }) => void noted.push(summary),
      connected: { observations: { fleet: () => fleetOf([cp1, facts]) } },
    } as unknown as Run;
    const { on, sent } = recordingOn(answers);
    const fetched: string[] = [];
    await dataKept(run)(
      (host) => ({
        ...on(host),
        download: (from: string, to: string) => {
          fetched.push(from);
          writeFileSync(to, 'data', { mode: 0o644 });
          return Promise.resolve();
        },
      }),
      cp1,
    );
    const files = readdirSync(snapshotFolder(run)).sort();
    const modes = files.map((name) => statSync(join(snapshotFolder(run), name)).mode & 0o777);
    return { files, modes, noted, fetched, sent };
  };
  const FILES = ['undone-20261121T165045-000-cp1.db', 'undone-20261121T165045-000-cp1.db.json'];

  test('saves a snapshot of the live etcd, 0600, and emits its path', async () => {
    const { files, modes, noted, fetched } = await keeping({ run: () => 'found\n', job: () => STATUS });
    expect(files).toEqual(FILES);
    expect(modes).toEqual([0o600, 0o600]);
    expect(noted).toEqual([expect.stringMatching(/^etcd's data is kept in \/.*\/undone-.*-cp1\.db \(a snapshot\)$/)]);
    expect(fetched).toEqual(['/data/etcd/kbuild-snapshot-run1.db']);
  });

  test('copies the data file of an etcd that makes no snapshot, and leaves nothing on the host', async () => {
    const { files, noted, fetched, sent } = await keeping({ run: () => 'found\n', job: () => 'no etcd runs' });
    expect(files).toEqual(FILES);
    expect(noted[0]).toContain('(a copy, for etcdutl snapshot restore --skip-hash-check)');
    expect(fetched).toEqual(['/data/etcd/kbuild-copy-run1.db']);
    expect(sent.at(-1)).toMatchObject({ script: 'rm -f -- /data/etcd/kbuild-copy-run1.db' });
  });

  test('writes nothing for a host without data of etcd', async () => {
    const { files, noted } = await keeping({ run: () => 'absent\n' });
    expect([files, noted]).toEqual([[], []]);
  });
});
