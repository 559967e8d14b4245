import { linuxRemote, type LinuxRemote } from '../../src/ssh/linux.ts';
import { sshDialler } from '../../src/ssh/ssh2.ts';
import { linuxHost } from '../fakes/inventory.ts';

/** How to reach the fleet's hosts. */
export interface Reach {
  readonly identityFile: string;
  readonly knownHostsFile: string;
  readonly port: number;
}

/** Dials hosts by kbuild's own transport: host keys verified, framed, as kbuild runs everything. */
export function benchDial({ identityFile, knownHostsFile, port }: Reach): (address: string) => Promise<LinuxRemote> {
  const dialler = sshDialler({ policy: 'strict' });
  return async (address) => {
    const host = linuxHost(address, {
      address,
      ssh: { user: 'root', port, identityFiles: [identityFile], knownHostsFiles: [knownHostsFile] },
    });
    return linuxRemote(host, await dialler.dial(host), { runId: 'bench' });
  };
}
