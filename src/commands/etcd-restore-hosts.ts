import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { isControlPlane } from '../cluster/fleet/joined.ts';
import { casOf, clustersOf, shareCa } from '../cluster/standings.ts';
import { Refused, throwAll } from '../errors.ts';
import {
  livingHosts,
  livingHostsRefusal,
  type OtherMember,
  otherMembers,
  otherMembersRefusal,
} from '../etcd/restore-members.ts';
import { begunRestore, type Restore, restoreIdOf } from '../etcd/restore-stage.step.ts';
import { authoritiesIn } from '../etcd/snapshot.ts';
import { unreadableMarker } from '../host/unfinished.refusal.ts';
import { controlPlanes, etcdHosts } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { isOfOwnData, type Marker, OWN_DATA } from '../kubeadm/marker.facts.ts';
import { paths } from '../paths.ts';
import type { Run } from '../session/run.ts';
import { commandWithDead, refuseUnreachable } from '../session/selection.ts';
import { restoreHosts } from './restore.phases.ts';

/** The hosts onto which a snapshot is restored. */
type RestoredHosts = Pick<Restore, 'controls' | 'members'>;

/**
 * The hosts that are restored: all control planes and etcd hosts of the inventory but those that `--dead` names.
 * @throws Refused when there is none, or nothing to restore into, or a marker there cannot be read; the errors of hosts
 * that do not answer
 */
export function restoredHosts(run: Run): RestoredHosts {
  const { connected, flags, inventory } = run;
  const fleet = connected.observations.fleet();
  const isGone = ({ name }: LinuxHost): boolean => flags.dead?.includes(name) === true;
  const controls = controlPlanes(inventory).filter((host) => !isGone(host));
  const members = inventory.etcd.topology === 'built' ? etcdHosts(inventory).filter((host) => !isGone(host)) : controls;
  if (controls.length === 0 || members.length === 0)
    throw new Refused(
      'no-restore-host',
      inventory.name,
      'there is no host left to restore into',
      'name fewer hosts in --dead',
    );
  const names = new Set(restoreHosts({ controls, members }).map(({ name }) => name));
  refuseUnreachable(
    run,
    ({ name }) => names.has(name),
    (gone) =>
      `all control planes and members of etcd are restored together: make ${gone.join(', ')} reachable; if gone ` +
      `for good: add --dead ${gone.join(',')}`,
  );
  const unreadable = fleet.hosts
    .filter(({ host }) => names.has(host.name))
    .flatMap((one) => unreadableMarker(one) ?? []);
  throwAll(unreadable);
  refuseBare(fleet, { controls, members });
  return { controls, members };
}

/** @throws Refused for a host without a control plane or etcd, unless a restore that has begun there stopped it */
function refuseBare(fleet: Fleet, { controls, members }: RestoredHosts): void {
  const traces = (host: LinuxHost): ReadonlySet<string> => linuxFacts(fleet, host)?.kubernetesTraces ?? new Set();
  const bare = [
    ...controls.filter((host) => !isControlPlane(traces(host))),
    ...members.filter((host) => host.role === 'etcd' && !traces(host).has(paths.etcdManifest)),
  ].filter((host) => begunRestore([linuxFacts(fleet, host)?.marker ?? 'absent']) === undefined);
  for (const { name, role } of bare)
    throw new Refused(
      'not-joined',
      name,
      `it is no ${role === 'etcd' ? 'member of etcd' : 'control plane'} yet, so there is nothing to restore into`,
      'take it out of the inventory, and add it again afterwards',
    );
}

/** @throws Refused unless the snapshot holds the certificate authority of these hosts. */
export async function refuseOtherSnapshot(run: Run, hosts: readonly LinuxHost[], file: string): Promise<void> {
  const fleet = run.connected.observations.fleet();
  const [cluster, ...others] = clustersOf(hosts.map((host) => ({ cas: casOf(linuxFacts(fleet, host)!) })));
  if (cluster === undefined || others.length > 0 || cluster.cas.length === 0)
    throw new Refused(
      'different-authorities',
      run.inventory.name,
      'its control planes do not agree on one certificate authority',
    );
  const found = await authoritiesIn(file);
  if (!shareCa(cluster.cas, found))
    throw new Refused(
      'snapshot-of-other-cluster',
      run.inventory.name,
      `${file} is no snapshot of this cluster: it holds ` +
        `${found.size === 0 ? 'no certificate authority' : 'others'}, not ${cluster.cas.join(' or ')}`,
      'restore a snapshot of this cluster',
    );
}

/**
 * @throws Refused while members of etcd that are not restored run, or do not answer and are not declared dead; and
 * while anything answers where the inventory has another control plane or etcd host. Returns the members that are left
 * out.
 */
export async function refuseOtherMembers(
  run: Run,
  about: RestoredHosts,
  operands: readonly string[],
): Promise<readonly OtherMember[]> {
  const { connected, flags, inventory } = run;
  const command = (names: readonly string[]): string => commandWithDead(run, names, operands);
  const others = await otherMembers(connected.on, inventory, connected.observations.fleet(), about.members);
  const living = await livingHosts(connected.on, inventory, restoreHosts(about));
  const refused = otherMembersRefusal(others, flags.dead ?? [], command) ?? livingHostsRefusal(living, command);
  if (refused !== undefined) throw refused;
  return others;
}

async function digestOf(file: string, members: readonly LinuxHost[]): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  hash.update(members.map(({ name, internalAddress }) => `${name}=${internalAddress}`).join(','));
  return hash.digest('hex').slice(0, 16);
}

/** The id of a restore of this snapshot onto these hosts. Reads the whole file. */
export async function restoreId(
  run: Run,
  about: RestoredHosts,
  file: string,
): Promise<Pick<Restore, 'id' | 'hasEnded'>> {
  const digest = await digestOf(file, about.members);
  return restoreIdOf(markersOn(run, about), digest, run.runId);
}

const markersOn = (run: Run, about: RestoredHosts): readonly (Marker | 'absent' | 'unreadable')[] => {
  const fleet = run.connected.observations.fleet();
  return restoreHosts(about).map((host) => linuxFacts(fleet, host)?.marker ?? 'absent');
};

/**
 * The id of a recovery of these hosts. @throws Refused if a restore of a snapshot was cut off there: its data may be in
 * place already
 */
export function recoveryId(run: Run, about: RestoredHosts): Pick<Restore, 'id' | 'hasEnded'> & { hasBegun: boolean } {
  const markers = markersOn(run, about);
  const begun = begunRestore(markers);
  if (begun !== undefined && !isOfOwnData(begun))
    throw new Refused(
      'restore-unfinished',
      run.inventory.name,
      `a restore of a snapshot was cut off here (${begun.stage})`,
      'finish it first: `kbuild etcd snapshot restore FILE` with the same snapshot',
    );
  const id = restoreIdOf(markers, OWN_DATA, run.runId);
  return { ...id, hasBegun: begun !== undefined || id.hasEnded === true };
}
