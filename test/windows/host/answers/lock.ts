import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = async (machine, params, { pid, result, heartbeat, sleep }) => {
  const { Root, Lock, Holder } = params as Record<string, string>;
  const path = Lock!.toLowerCase();
  filesOf(machine).makeFolder(Root!);
  const other = machine.locks.get(path);
  if (other !== undefined && other.holder === Holder) {
    // Only the process that took it: another may have its number by now.
    const process = machine.processes.get(other.pid);
    if (process?.startedMs === other.startedMs) process?.end();
    const deadline = Date.now() + 300;
    while (machine.locks.has(path) && Date.now() < deadline) await sleep(10);
  }
  const held = machine.locks.get(path);
  if (held !== undefined) return `held ${held.holder}`;
  const startedMs = machine.processes.get(pid)?.startedMs;
  machine.locks.set(path, { pid, holder: Holder!, ...(startedMs === undefined ? {} : { startedMs }) });
  result('locked');
  while (await heartbeat(45_000));
  const files = filesOf(machine);
  if (files.under(Root!).length === 0) files.removeTree(Root!);
  return undefined;
};
