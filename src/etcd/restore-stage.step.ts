import { createHash } from 'node:crypto';
import type { Target } from '../engine/step.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Marker, markerAway, RESTORE } from '../kubeadm/marker.facts.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';
import { using } from '../templates.ts';
import { peerUrl } from './config.ts';

/** A restore on all members at the same time: of a snapshot, or of the data of the only surviving member. */
export interface Restore {
  readonly inventory: Inventory;
  /** The control planes that stop during the restore. */
  readonly controls: readonly LinuxHost[];
  /** The hosts of etcd's members: the same, or those of role etcd. */
  readonly members: readonly LinuxHost[];
  /**
   * Path of the local file; undefined: restore the data of the only surviving member, whose etcd has no quorum (`etcd
   * recover`).
   */
  readonly snapshot: string | undefined;
  /** Id of this restore. Each id makes a separate etcd cluster: members of an older one cannot join it. */
  readonly id: string;
  /** True if an earlier run reached `served` on every host: only its markers are left, on some of them. */
  readonly hasEnded?: true;
}

/** The stages of a host. The marker records the last one, so that the same command continues an interrupted restore. */
const STAGES = ['prepared', 'stopped', 'swapped', 'started', 'served'] as const;
/** kbuild takes the data only after etcd has stopped: a later write would be lost. */
const STAGES_OF_OWN_DATA = ['stopped', 'taken', 'swapped', 'started', 'served'] as const;
export type RestoreStage = (typeof STAGES)[number] | (typeof STAGES_OF_OWN_DATA)[number];

const stagesOf = ({ snapshot }: Restore): readonly RestoreStage[] =>
  snapshot === undefined ? STAGES_OF_OWN_DATA : STAGES;

/** The index of the last stage that this restore reached on a host; -1 if it has not begun. */
export const stageOf = (restore: Restore, { facts }: Pick<Target, 'facts'>): number =>
  typeof facts.marker === 'object' && facts.marker.action === RESTORE && facts.marker.about === restore.id
    ? stagesOf(restore).indexOf(facts.marker.stage as RestoreStage)
    : -1;

/** True when this restore reached the stage on a host. */
export const isPast = (restore: Restore, target: Pick<Target, 'facts'>, stage: RestoreStage): boolean =>
  restore.hasEnded === true || stageOf(restore, target) >= stagesOf(restore).indexOf(stage);

/** True for a host of an etcd member that is restored. */
export const isMember = ({ members }: Restore, host: LinuxHost): boolean =>
  members.some(({ name }) => name === host.name);

/**
 * The folder in which a host creates its new data. It is inside the folder of etcd's data, so that a rename works even
 * if that folder is a mount point.
 */
export const workFolder = (folder: string): string => `${folder}/${paths.restoreWork}`;

/** The folder in which a host keeps its data from before the restore. */
export const keptFolder = (folder: string, { id }: Pick<Restore, 'id'>): string => `${folder}/before-restore-${id}`;

/** The token (`--initial-cluster-token`) of the etcd that a restore makes. */
export const tokenOf = ({ inventory, id }: Pick<Restore, 'inventory' | 'id'>): string => `${inventory.name}-${id}`;

/**
 * The id that a member has after this restore: etcd computes it from its peer URL and the token
 * (server/etcdserver/api/membership/member.go), so no member of another etcd has it.
 */
export function restoredMemberId(restore: Pick<Restore, 'inventory' | 'id'>, host: LinuxHost): string {
  const hash = createHash('sha1')
    .update(`${peerUrl(host)}${tokenOf(restore)}`)
    .digest();
  return hash.readBigUInt64BE(0).toString(16);
}

type Markers = readonly (Marker | 'absent' | 'unreadable')[];

const ofRestore = (markers: Markers): readonly Marker[] =>
  markers.filter(
    (marker): marker is Marker => typeof marker === 'object' && marker.action === RESTORE && marker.about !== undefined,
  );

/** A restore that has begun and not ended by the markers of these hosts; undefined if there is none. */
export const begunRestore = (markers: Markers): Marker | undefined =>
  ofRestore(markers).find(({ stage }) => stage !== 'served');

/**
 * The id of a restore of this snapshot (`digest`): the id of an interrupted restore, or of a completed one whose
 * markers are left, otherwise a new id of this run. Markers record `served` only when all hosts serve, and are removed
 * one by one. Such a restore must not run again under its id: a host without a marker would be restored alone into the
 * live etcd.
 */
export function restoreIdOf(markers: Markers, digest: string, runId: string): Pick<Restore, 'id' | 'hasEnded'> {
  const isSame = (marker: Marker | undefined): marker is Marker & { readonly about: string } =>
    marker?.about?.endsWith(`-${digest}`) === true;
  const begun = begunRestore(markers);
  if (isSame(begun)) return { id: begun.about };
  const ended = ofRestore(markers).find(isSame);
  if (begun === undefined && ended !== undefined) return { id: ended.about, hasEnded: true };
  return { id: `${runId}-${digest}` };
}

/** Undoes the preparation of a restore on a host whose control plane it has not stopped. */
export const takeBack = (folder: string): Command<'sh'> => using(sh`rm -rf -- ${workFolder(folder)}`, markerAway());
