import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherMembers, otherMembersRefusal } from '../cluster/restore-members.ts';
import { Refused, SeveralErrors, UsageError } from '../errors.ts';
import { authoritiesIn } from '../etcd/foreign.ts';
import { begunRestore, keptFolder, restoredMemberId, takeBack, type Restore } from '../etcd/restore.ts';
import { linuxFacts } from '../facts/fleet.ts';
import { isControlPlane } from '../facts/joined.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { controlPlanes, etcdHosts } from '../topology/select.ts';
import { paths } from '../paths.ts';
import { restoreHosts, restorePhases } from '../phases/restore.ts';
import { planText } from '../report/plan.ts';
import { quote, sh } from '../shell/sh.ts';
import type { RestoreSnapshotOptions } from './commands/etcd-snapshot-restore.ts';
import type { Context } from './context.ts';
import { requireOurs } from './etcd.ts';
import { refuseForeign } from './session/preflight.ts';
import { withRun, type Run } from './session/run.ts';
import { carryOut, confirmed, phasesOf, planOf, RESTORES } from './up.ts';

/** The hosts that are restored: all control planes and etcd hosts of the inventory but those that `--dead` names. */
function restored(run: Run): Pick<Restore, 'controls' | 'members'> {
  const { connected, flags, inventory } = run;
  const fleet = connected.watch.fleet();
  const isGone = ({ name }: LinuxHost): boolean => flags.dead?.includes(name) === true;
  const controls = controlPlanes(inventory).filter((host) => !isGone(host));
  const members = inventory.etcd.topology === 'built' ? etcdHosts(inventory).filter((host) => !isGone(host)) : controls;
  if (controls.length === 0 || members.length === 0)
    throw new Refused(inventory.name, 'there is no host left to restore into', 'name fewer hosts in --dead');
  const names = new Set(restoreHosts({ controls, members }).map(({ name }) => name));
  const missing = fleet.unreachable.filter(({ host }) => names.has(host.name));
  if (missing.length > 0) {
    const gone = missing.map(({ host }) => host.name);
    throw new SeveralErrors(
      missing.map(({ error }) => error),
      {
        remedy: `all control planes and members of etcd are restored together: make ${gone.join(', ')} reachable; if gone for good: add --dead ${gone.join(',')}`,
      },
    );
  }
  const holds = (host: LinuxHost, path: string): boolean =>
    linuxFacts(fleet, host)?.kubernetesTraces.has(path) === true;
  const isAside = (host: LinuxHost): boolean => isBegun(run, host);
  const bare = [
    ...controls.filter(
      (host) => !isControlPlane(linuxFacts(fleet, host)?.kubernetesTraces ?? new Set()) && !isAside(host),
    ),
    ...members.filter((host) => host.role === 'etcd' && !holds(host, paths.etcdManifest) && !isAside(host)),
  ];
  for (const { name, role } of bare)
    throw new Refused(
      name,
      `it is no ${role === 'etcd' ? 'member of etcd' : 'control plane'} yet, so there is nothing to restore into`,
      'take it out of the inventory, and add it again afterwards',
    );
  return { controls, members };
}

/** True for a host on which a restore has begun and not ended. */
function isBegun({ connected }: Run, host: LinuxHost): boolean {
  const facts = linuxFacts(connected.watch.fleet(), host);
  return facts !== undefined && begunRestore([facts.marker]) !== undefined;
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

/** This run's command with more hosts declared dead. */
const commandWith = ({ flags }: Run, file: string, names: readonly string[]): string =>
  [
    'kbuild etcd snapshot restore',
    quote(file),
    ...(flags.inventory === undefined ? [] : ['-i', quote(flags.inventory)]),
    '--dead',
    quote([...new Set([...(flags.dead ?? []), ...names])].join(',')),
  ].join(' ');

/** @throws Refused while members of etcd that are not restored run, or do not answer and are not declared dead. */
async function refuseOtherMembers(run: Run, { members }: Pick<Restore, 'members'>, file: string): Promise<void> {
  const { connected, flags } = run;
  const others = await otherMembers(connected.on, connected.watch.fleet(), members);
  const refused = otherMembersRefusal(others, flags.dead ?? [], (names) => commandWith(run, file, names));
  if (refused !== undefined) throw refused;
}

async function digestOf(file: string, members: readonly LinuxHost[]): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  hash.update(members.map(({ name, internalAddress }) => `${name}=${internalAddress}`).join(','));
  return hash.digest('hex').slice(0, 16);
}

/** The id of this restore: that of one which was cut off, of the same snapshot onto the same members; else a new one. */
async function idOf(run: Run, about: Pick<Restore, 'controls' | 'members'>, file: string): Promise<string> {
  const digest = await digestOf(file, about.members);
  const fleet = run.connected.watch.fleet();
  const markers = restoreHosts(about).map((host) => linuxFacts(fleet, host)?.marker ?? 'absent');
  const begun = begunRestore(markers)?.about;
  return begun?.endsWith(`-${digest}`) === true ? begun : `${run.runId}-${digest}`;
}

/** Where nothing was stopped yet, a restore that failed leaves nothing behind. What a lost connection keeps, the next `up` removes. */
async function takeBackPrepared({ connected, context }: Run, restore: Restore): Promise<void> {
  const hosts = restoreHosts(restore);
  connected.watch.expire(hosts.map(({ name }) => name));
  try {
    const { value: found } = await connected.watch.evaluate(
      (fleet) =>
      hosts.map((host) => ({ host, facts: linuxFacts(fleet, host)! })).map(({ host, facts }) => ({ host, marker: facts.marker, folder: facts.etcdFolder })), // prettier-ignore
    );
    const begun = found.filter(({ marker }) => begunRestore([marker])?.about === restore.id);
    if (begun.some(({ marker }) => typeof marker === 'object' && marker.stage !== 'prepared')) return;
    await Promise.all(begun.map(({ host, folder }) => connected.on(host).run(takeBack(folder))));
    if (begun.length > 0) context.err('nothing was stopped or changed; what was prepared is removed again\n');
  } catch {
    context.err('what was prepared may be left: the same command goes on with it\n');
  }
}

async function end(run: Run, restore: Restore): Promise<void> {
  const { connected, context, flags, inventory } = run;
  const fleet = connected.watch.fleet();
  await Promise.all(restoreHosts(restore).map((host) => connected.on(host).run(sh`rm -f -- ${paths.marker}`)));
  const kept = restore.members.map(
    (host) => `${host.name}:${keptFolder(linuxFacts(fleet, host)?.etcdFolder ?? paths.etcdData, restore)}`,
  );
  if (flags.json === true) return;
  const ids = restore.members.map((host) => `${host.name} ${restoredMemberId(restore, host)}`).join(', ');
  context.out(
    `${inventory.name} is what ${restore.snapshot} held (etcd serves it as ${ids}); the data before it is in ${kept.join(', ')}\n`,
  );
}

/** `kbuild etcd snapshot restore FILE`: the whole control plane goes back to what the snapshot holds. */
export const runRestore = (outer: Context, flags: RestoreSnapshotOptions, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, 'etcd-snapshot-restore', 'as-json', async (run) => {
    const { context, inventory } = run;
    requireOurs(run);
    const snapshot = resolve(context.cwd, file ?? '');
    if (file === undefined || !existsSync(snapshot)) throw new UsageError(`there is no snapshot ${snapshot}`);
    const about = restored(run);
    const hosts = restoreHosts(about);
    refuseForeign(
      run,
      hosts.map(({ name }) => name),
    );
    await refuseOtherSnapshot(run, about.controls, snapshot);
    await refuseOtherMembers(run, about, file);
    const restore: Restore = { inventory, ...about, snapshot, id: await idOf(run, about, snapshot) };
    const list = () => restorePhases(restore);
    const phases = phasesOf(run, list());
    const agreed = planOf(run, phases);
    context.err(
      `${planText(phases, agreed.changes)}This puts ${inventory.name} back to ${snapshot}: every change since then is lost, and the API is away meanwhile.\n`,
    );
    if (!(await confirmed(run, `Restore ${hosts.map(({ name }) => name).join(', ')}?`))) return 0;
    try {
      const code = await carryOut(run, RESTORES, list, agreed);
      if (code === 0) await end(run, restore);
      else await takeBackPrepared(run, restore);
      return code;
    } catch (error) {
      await takeBackPrepared(run, restore);
      throw error;
    }
  });
