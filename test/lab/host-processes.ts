import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostDir } from './paths.ts';
import { processId, type ProcessId, recordedProcess } from './process-id.ts';

const CGROUPS = '/sys/fs/cgroup';

/** The supervisor that boots the host and boots it again when it reboots. */
export const supervisorOf = (name: string): ProcessId | undefined =>
  recordedProcess(join(hostDir(name), 'supervisor.pid'));

/** Every process of the host: all that is in its cgroup, which only the lab's supervisor puts anything into. */
export function processesOf(name: string): readonly ProcessId[] {
  const unified = existsSync(join(CGROUPS, 'cgroup.controllers'));
  return pidsBelow(join(CGROUPS, unified ? '' : 'pids', 'kbuild-lab', name)).flatMap((pid) => processId(pid) ?? []);
}

/** The host's own init, whose end is the end of everything in the host. */
export function initOf(name: string): ProcessId | undefined {
  return processesOf(name).find(({ pid }) => namespacePids(pid).join() === `${pid},1`);
}

function pidsBelow(dir: string): number[] {
  try {
    const own = readFileSync(join(dir, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    const children = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...own, ...children.flatMap((child) => pidsBelow(join(dir, child.name)))];
  } catch {
    return []; // gone while we looked
  }
}

/** A process's numbers, from our process namespace inwards: two where it lives in a host, more in a pod. */
function namespacePids(pid: number): readonly string[] {
  try {
    const line = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line?.[1]?.split(/\s+/) ?? [];
  } catch {
    return [];
  }
}
