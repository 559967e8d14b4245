import { sh } from '../../../src/shell/sh.ts';
import { linuxRemote, type LinuxRemote } from '../../../src/ssh/linux.ts';
import { dialSsh } from '../../fakes/dial-ssh.ts';
import { linuxHost } from '../../fakes/inventory.ts';
import * as lab from '../lab.ts';

/** A remote as a kbuild process of its own has it: its own connection and run. */
export interface OwnRemote extends LinuxRemote {
  readonly runId: string;
  /** What it said about jobs of others. */
  readonly followed: readonly string[];
  /** What its jobs said that they wait for. */
  readonly waits: readonly string[];
  /** Bytes that its jobs said they have downloaded. */
  readonly loads: readonly number[];
  /** Ends the process on the host that serves its connection. */
  cut(): Promise<void>;
}

/** Makes remotes of lab hosts and closes them all at the end. */
export function kbuilds(): {
  readonly connect: (name: string, user?: 'root' | 'ops') => Promise<OwnRemote>;
  readonly closeAll: () => Promise<void>;
} {
  const remotes: LinuxRemote[] = [];
  return {
    async connect(name, user = 'root') {
      const { address } = lab.hostSettings(name);
      const host = linuxHost(name, {
        address,
        ssh: { user, port: 22, identityFiles: [lab.paths.identityFile], knownHostsFiles: [lab.paths.knownHostsFile] },
      });
      const runId = `test${String(process.pid)}-${String(remotes.length + 1)}`;
      const followed: string[] = [];
      const waits: string[] = [];
      const loads: number[] = [];
      const transport = await dialSsh(host, { policy: 'strict' });
      const remote = linuxRemote(host, transport, {
        runId,
        onJobFollowed: (summary) => followed.push(summary),
        onJobWaits: (summary) => waits.push(summary),
        onJobLoads: (bytes) => loads.push(bytes),
      });
      remotes.push(remote);
      const cut = async () => {
        const served = (await remote.run(sh`echo $PPID`)).trim();
        await lab.inside(name, `kill -KILL ${served}`);
      };
      return Object.assign(remote, { runId, followed, waits, loads, cut });
    },
    async closeAll() {
      await Promise.all(remotes.map((remote) => remote.close()));
    },
  };
}
