import { createHash } from 'node:crypto';
import { releases, type Internet } from '../internet.ts';
import { filesOf, parentOf } from '../machine.ts';
import { moveOver, removePods, unpacked } from '../programs.ts';
import { ScriptFailure, type Answer } from '../script.ts';
import { activeDependents, settled, startInTime, stopInTime } from '../services.ts';

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** `world.internet` says what is at an address. */
export const answer: Answer = async (machine, params, { host }) => {
  const { Url = '', Uploaded = '', Sha256 = '', SumUrl = '', Target = '' } = params as Record<string, string>;
  const { Archive, Strip, Stop } = params as unknown as { Archive: boolean; Strip: number; Stop: readonly string[] };
  const { Last = '', Crictl = '', Endpoint = '' } = params as Record<string, string>;
  const internet = (host.world['internet'] ?? releases) as Internet;
  const get = (url: string): Buffer => {
    const content = internet(url);
    if (content === undefined)
      throw new ScriptFailure(`curl.exe ended with status 22: The requested URL returned error: 404 ${url}`);
    return content;
  };
  const files = filesOf(machine);
  const wanted = (Sha256 === '' ? get(SumUrl).toString() : Sha256).toLowerCase();
  const download = Uploaded === '' ? `${Target}.download` : Uploaded;
  const ran: string[] = [];
  let placed = false;
  try {
    if (Url !== '') files.put(download, get(Url));
    const { content } = files.get(download)!;
    if (sha256(content) !== wanted)
      throw new ScriptFailure(
        `checksum mismatch: ${Url}${Uploaded} has SHA-256 ${sha256(content)}, and ${wanted} was expected`,
      );
    // Folders stay when their files move.
    for (let folder = parentOf(Target); folder.includes('\\'); folder = parentOf(folder)) files.makeFolder(folder);
    const news = Archive ? unpacked(content, Strip, Target) : new Map([[Target, content]]);
    for (const name of Stop.filter((one) => machine.services.has(one.toLowerCase()))) {
      const dependents = activeDependents(machine, name);
      const isActive = settled(machine, name).state !== 'Stopped';
      ran.push(...(isActive ? [name] : []), ...dependents);
      for (const dependent of dependents) await stopInTime(machine, host, dependent);
      if (Crictl !== '' && isActive) removePods(machine, Crictl, Endpoint);
      await stopInTime(machine, host, name);
    }
    moveOver(machine, news, Last);
    placed = true;
  } finally {
    if (!placed || Crictl !== '') for (const name of ran) await startInTime(machine, host, name);
    files.remove(download);
  }
  return { installed: Target, sha256: wanted };
};
