import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BeforeMembership } from '../cluster/members.ts';
import { saveSnapshot, type SnapshotStatus } from '../etcd/snapshot.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { On } from '../remote/remote.ts';
import { makeFolder } from '../report/make-folder.ts';
import { logFolder, type Run } from './run.ts';

/** Snapshots that kbuild takes by itself, and of which it keeps the newest. */
const AUTOMATIC = 'auto-';
const KEPT = 5;

/** Where snapshots of a cluster go when nothing else is said. */
export const snapshotFolder = ({ context, inventory }: Pick<Run, 'context' | 'inventory'>): string =>
  join(logFolder(context, inventory.name), 'snapshots');

const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replaceAll(/[-:]|Z/g, '')
    .replace('.', '-');

/** Saves a verified snapshot, with a file beside it that says what it is. */
export async function snapshotTo(
  run: Run,
  on: On,
  control: LinuxHost,
  path: string,
  reason: string,
): Promise<SnapshotStatus> {
  const { context, inventory } = run;
  const { cluster } = run.connected.watch.fleet();
  const status = await saveSnapshot(on(control), path, run.runId);
  await chmod(path, 0o600);
  const about = {
    cluster: inventory.name,
    ca: cluster.state === 'up' ? cluster.caFingerprint : undefined,
    kubernetes: cluster.state === 'up' ? cluster.version : undefined,
    taken: new Date(context.nowMs()).toISOString(),
    through: control.name,
    reason,
    ...status,
  };
  await writeFile(`${path}.json`, `${JSON.stringify(about, undefined, 2)}\n`, { mode: 0o600 });
  return status;
}

/** A snapshot before every change of etcd's members; the newest five are kept. */
export const snapshotBefore =
  (run: Run): BeforeMembership =>
  async (on, control, reason) => {
    const folder = snapshotFolder(run);
    makeFolder(folder);
    await snapshotTo(run, on, control, join(folder, `${AUTOMATIC}${stamp(run.context.nowMs())}.db`), reason);
    const automatic = (await readdir(folder)).filter((name) => name.startsWith(AUTOMATIC) && name.endsWith('.db'));
    for (const name of automatic.sort().slice(0, -KEPT)) {
      await rm(join(folder, name), { force: true });
      await rm(join(folder, `${name}.json`), { force: true });
    }
  };
