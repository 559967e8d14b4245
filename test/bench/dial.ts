import type { LinuxHost } from '../../src/model/inventory.ts';
import { linuxRemote, type LinuxRemote } from '../../src/remote/linux.ts';
import { sshDialler } from '../../src/transport/ssh.ts';

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
    const host: LinuxHost = {
      os: 'linux',
      role: 'worker',
      name: address,
      address,
      internalAddress: address,
      ssh: { user: 'root', port, identityFiles: [identityFile], knownHostsFiles: [knownHostsFile] },
      kubelet: { config: {}, extraArgs: [] },
      labels: {},
      taints: undefined,
      groups: [],
      sysctls: {},
      installFrom: 'distribution',
      packages: [],
      trustedCas: [],
      setHostname: false,
    };
    return linuxRemote(host, await dialler.dial(host), { runId: 'bench' });
  };
}
