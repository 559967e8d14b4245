import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { memberHost } from '../cluster/member-host.ts';
import { lockHosts } from '../engine/lock.ts';
import { NotConverged, Refused, SeveralErrors, UsageError } from '../errors.ts';
import { authoritiesIn } from '../etcd/foreign.ts';
import { restoreControlPlane, type Restore } from '../etcd/restore.ts';
import { linuxFacts } from '../facts/fleet.ts';
import { isControlPlane } from '../facts/joined.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { controlPlanes, etcdHosts } from '../inventory/select.ts';
import { paths } from '../paths.ts';
import { jsonDocument } from '../report/json.ts';
import { makeFolder } from '../report/make-folder.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { holder } from './holder.ts';
import { refuseForeign } from './preflight.ts';
import { withRun, type Run } from './run.ts';
import { snapshotFolder, snapshotTo } from './snapshots.ts';
import { confirmed } from './up.ts';

/** @throws Refused where etcd is the user's own: kbuild has no etcdctl there, and no say. */
function requireOurs({ inventory }: Run): void {
  if (inventory.etcd.topology !== 'external') return;
  throw new Refused(
    inventory.name,
    'its etcd is your own, and so are its snapshots',
    'use etcdctl snapshot save, and etcdutl snapshot restore, on its members',
  );
}

/** `kbuild etcd snapshot save [FILE]`: a verified snapshot of the live etcd, 0600. Prints its path. */
export const runSave = (outer: Context, flags: Flags, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, 'etcd-snapshot-save', 'never-json', async (run) => {
    const { context } = run;
    requireOurs(run);
    const { connected, inventory } = run;
    const path = file === undefined ? join(snapshotFolder(run), `${run.runId}.db`) : resolve(context.cwd, file);
    if (existsSync(path)) throw new UsageError(`${path} is there already; nothing was written`);
    const control = memberHost(inventory, connected.watch.fleet());
    refuseForeign(run, [control.name]);
    const lock = await lockHosts(connected.remotes, holder(run, 'etcd snapshot save'));
    try {
      makeFolder(dirname(path));
      const status = await snapshotTo(run, connected.on, control, path, 'asked for');
      if (flags.json === true) context.out(jsonDocument({ file: path, through: control.name, ...status }));
      else context.out(`${path}\n`);
      return 0;
    } finally {
      await lock.release();
    }
  });

/** What a restore is about, all of which answers and holds the cluster. */
function restored(run: Run): Pick<Restore, 'controls' | 'members'> {
  const { connected, inventory } = run;
  const fleet = connected.watch.fleet();
  const controls = controlPlanes(inventory);
  const members = inventory.etcd.topology === 'built' ? etcdHosts(inventory) : controls;
  const names = new Set([...controls, ...members].map(({ name }) => name));
  const missing = fleet.unreachable.filter(({ host }) => names.has(host.name));
  if (missing.length > 0)
    throw new SeveralErrors(
      missing.map(({ error }) => error),
      {
        remedy:
          'all control planes and members of etcd are restored together: bring it back, or take it out of the inventory',
      },
    );
  const holds = (host: LinuxHost, path: string): boolean =>
    linuxFacts(fleet, host)?.kubernetesTraces.has(path) === true;
  const bare = [
    ...controls.filter((host) => !isControlPlane(linuxFacts(fleet, host)?.kubernetesTraces ?? new Set())),
    ...members.filter((host) => host.role === 'etcd' && !holds(host, paths.etcdManifest)),
  ];
  for (const { name, role } of bare)
    throw new Refused(
      name,
      `it is no ${role === 'etcd' ? 'member of etcd' : 'control plane'} yet, so there is nothing to restore into`,
      'take it out of the inventory, and add it again afterwards',
    );
  return { controls, members };
}

/** @throws Refused unless the snapshot holds the certificate authority of these hosts. */
async function refuseOtherSnapshot(run: Run, hosts: readonly LinuxHost[], file: string): Promise<void> {
  const fleet = run.connected.watch.fleet();
  const cas = new Set(hosts.map((host) => linuxFacts(fleet, host)!.caFingerprint));
  const [ca] = cas;
  if (cas.size !== 1 || ca === undefined || ca === 'absent')
    throw new Refused(run.inventory.name, 'its control planes do not agree on one certificate authority');
  const found = await authoritiesIn(file);
  if (!found.has(ca))
    throw new Refused(
      run.inventory.name,
      `${file} is no snapshot of this cluster: it holds ${found.size === 0 ? 'no certificate authority' : 'others'}, not ${ca}`,
      'restore a snapshot of this cluster',
    );
}

const SERVES_WITHIN_MS = 5 * 60_000;
const LOOK_MS = 2000;

/** Waits until etcd is whole and every API server is ready. @throws NotConverged */
async function untilItServes(run: Run, { controls, members }: ReturnType<typeof restored>): Promise<void> {
  const { connected, context } = run;
  const deadline = context.nowMs() + SERVES_WITHIN_MS;
  for (;;) {
    connected.watch.expireAll();
    const needed = await connected.watch
      .evaluate(({ cluster }) => {
        if (cluster.state !== 'up') return ['the API server'];
        const healthy = new Set(cluster.members.filter((member) => member.healthy).map(({ name }) => name));
        return [
          ...controls.flatMap(({ name }) =>
            cluster.apiServers.get(name) === 'ok' ? [] : [`the API server of ${name}`],
          ),
          ...members.flatMap(({ name }) => (healthy.has(name) ? [] : [`etcd of ${name}`])),
        ];
      })
      .then(({ value }) => value)
      .catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
    if (needed.length === 0) return;
    if (context.nowMs() > deadline) throw new NotConverged(run.inventory.name, 'etcd-restore', needed);
    await context.sleep(LOOK_MS);
  }
}

/** `kbuild etcd snapshot restore FILE`: the whole control plane goes back to what the snapshot holds. */
export const runRestore = (outer: Context, flags: Flags, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, 'etcd-snapshot-restore', 'never-json', async (run) => {
    const { context } = run;
    requireOurs(run);
    const { connected, inventory } = run;
    const snapshot = resolve(context.cwd, file ?? '');
    if (file === undefined || !existsSync(snapshot)) throw new UsageError(`there is no snapshot ${snapshot}`);
    const about = restored(run);
    const hosts = [...new Set([...about.controls, ...about.members])];
    refuseForeign(
      run,
      hosts.map(({ name }) => name),
    );
    await refuseOtherSnapshot(run, about.controls, snapshot);
    context.err(
      `This puts ${inventory.name} back to ${snapshot}: every change since then is lost, and the API is away meanwhile.\n`,
    );
    if (!(await confirmed(run, `Restore ${hosts.map(({ name }) => name).join(', ')}?`))) return 0;
    const lock = await lockHosts(connected.remotes, holder(run, 'etcd snapshot restore'));
    try {
      const say = (what: string): void => context.err(`${what}\n`);
      await restoreControlPlane(connected.on, { inventory, ...about, snapshot, id: run.runId, say });
      say('waiting until etcd and every API server serve');
      await untilItServes(run, about);
      if (flags.json === true) context.out(jsonDocument({ restored: snapshot, hosts: hosts.map(({ name }) => name) }));
      else
        context.out(
          `${inventory.name} is what ${snapshot} held; the data before it is in /var/lib/etcd-before-restore-${run.runId} of ${about.members.map(({ name }) => name).join(', ')}\n`,
        );
      return 0;
    } finally {
      await lock.release();
    }
  });
