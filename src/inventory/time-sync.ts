import type { TimeSync } from '../model/time-sync.ts';
import { levelsOf } from './levels.ts';
import type { HostEntry, InventoryFile } from './schema.ts';
import { timeSyncOf } from './schema/system.ts';

/** The nearest `installFrom` of a host: its own, its groups', its role's, the inventory's. */
export const installFromOf = (file: InventoryFile, host: HostEntry): InventoryFile['installFrom'] =>
  levelsOf(file, host).findLast((level) => level.installFrom !== undefined)?.installFrom ?? file.installFrom;

/** The nearest `timeSync` of a host as a value; undefined if kbuild leaves its time service alone. */
export const timeSyncOfHost = (file: InventoryFile, host: HostEntry): TimeSync | undefined =>
  timeSyncOf([file, ...levelsOf(file, host)].findLast((level) => level.timeSync !== undefined)?.timeSync);
