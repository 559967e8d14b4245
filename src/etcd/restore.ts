import { createHash } from 'node:crypto';
import { peerUrl } from '../configuration/etcd-config.ts';
import type { Target } from '../engine/step.ts';
import { RESTORE, type Marker } from '../facts/marker.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';

/** A restore: the same snapshot for all members, at one moment. */
export interface Restore {
  readonly inventory: Inventory;
  /** The control planes that are put back. */
  readonly controls: readonly LinuxHost[];
  /** The hosts of etcd's members: the same, or those of role etcd. */
  readonly members: readonly LinuxHost[];
  /** The local file. */
  readonly snapshot: string;
  /** Names this restore; a new one is another etcd cluster, which old members can never join. */
  readonly id: string;
  /** True if an earlier run came as far as `served` on every host: only its notes are left, on some of them. */
  readonly hasEnded?: true;
}

/** How far a host has come; noted in its marker, so that the same command goes on after it was cut off. */
const STAGES = ['prepared', 'stopped', 'swapped', 'started', 'served'] as const;
export type RestoreStage = (typeof STAGES)[number];

/** The index of the last stage that this restore reached on a host; -1: not begun. */
export const stageOf = (restore: Restore, { facts }: Pick<Target, 'facts'>): number =>
  typeof facts.marker === 'object' && facts.marker.action === RESTORE && facts.marker.about === restore.id
    ? STAGES.indexOf(facts.marker.stage as RestoreStage)
    : -1;

/** True when this restore reached the stage on a host. */
export const isPast = (restore: Restore, target: Pick<Target, 'facts'>, stage: RestoreStage): boolean =>
  restore.hasEnded === true || stageOf(restore, target) >= STAGES.indexOf(stage);

/** True for a host of an etcd member that is restored. */
export const isMember = ({ members }: Restore, host: LinuxHost): boolean =>
  members.some(({ name }) => name === host.name);

/**
 * Where a host makes its new data: within the folder of etcd's data, so that one rename puts a file in its place even if the
 * folder is a mount.
 */
export const workFolder = (folder: string): string => `${folder}/${paths.restoreWork}`;

/** Where the data before a restore is kept on a host. */
export const keptFolder = (folder: string, { id }: Pick<Restore, 'id'>): string => `${folder}/before-restore-${id}`;

/** etcd's token of a restore. */
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

/** A restore that the markers of these hosts say has begun and not ended; undefined: there is none. */
export const begunRestore = (markers: Markers): Marker | undefined =>
  ofRestore(markers).find(({ stage }) => stage !== 'served');

/**
 * The id of a restore of these data (`digest`): of one that was cut off, or has ended and left notes. A host is noted as
 * `served` only when all hosts serve the restored data, and the notes are removed one by one: such a restore must never be
 * carried out again under its id, or a host without a note would be restored alone into the live etcd. Otherwise a new id,
 * of this run.
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

/** Takes back what a restore prepared, on a host where nothing of it was stopped. */
export const takeBack = (folder: string): Command<'sh'> =>
  sh`rm -rf -- ${workFolder(folder)}; rm -f -- ${paths.marker}`;
