import { setMaxListeners } from 'node:events';
import { userInfo } from 'node:os';
import type { Host } from '../../model/inventory.ts';
import type { HostRemote } from '../../remote/host-remote.ts';
import { opensshDialler } from '../../transport/openssh/dialler.ts';
import { sshConfig } from '../../transport/ssh-config.ts';
import { sshDialler } from '../../transport/ssh.ts';
import type { Context } from '../context.ts';
import { jobDeadline, type Flags } from '../options.ts';
import { runtimeFolder } from '../user-folder.ts';
import { passwords } from './passwords.ts';
import { remoteOf } from './remote-of.ts';
import { socketFolder } from './socket-folder.ts';
import type { RunLog } from './run-log.ts';

/** Connects to hosts of an inventory, each with its own settings and those of the operator's ssh_config. */
interface Dialler {
  /** @throws ConnectError */
  readonly dial: (host: Host) => Promise<HostRemote>;
  /** Ends all attempts to connect that are under way. */
  readonly abort: () => void;
  readonly close: () => void;
}

/** A dialler with the operator's keys, agent and known hosts. @throws UsageError for a wrong $KBUILD_JOB_DEADLINE */
export function hostDialler(context: Context, flags: Flags, run: RunLog): Dialler {
  const { runId, log, onBegin, onSecret, emit } = run;
  const jobDeadlineMs = jobDeadline(context.env);
  const dialling = new AbortController();
  // Every attempt to connect listens to this signal. From the eleventh on, Node would warn of a leak.
  setMaxListeners(0, dialling.signal);
  const home = userInfo().homedir;
  const config = sshConfig({
    home,
    noSsh: (file) =>
      context.err(
        `${file} is not read: there is no ssh program here\n  → install openssh-client, or set ssh.configFile: none\n`,
      ),
  });
  const questions = passwords(context, onSecret);
  const options = {
    policy: flags.acceptNewHostKeys === true ? 'accept-new' : 'strict',
    signal: dialling.signal,
  } as const;
  const openssh = opensshDialler({ ...options, home, makeFolder: () => socketFolder(runtimeFolder(context.env)) });
  const ssh = sshDialler({
    ...options,
    agentSocket: context.env['SSH_AUTH_SOCK'],
    askPassphrase: questions?.passphrase,
  });
  return {
    async dial(host) {
      const effective = await config.applied(host);
      const transport = await (effective.ssh.client === 'openssh' ? openssh : ssh).dial(effective);
      const sudoPassword = async () => effective.ssh.sudoPassword ?? (await questions?.sudo(effective.ssh.user));
      const onJobFollowed = (summary: string) => emit({ kind: 'job-followed', host: host.name, summary });
      const onJobWaits = (summary: string, about: string) => emit({ kind: 'job-waits', host: about, summary });
      const onJobLoads = (bytes: number, bytesPerSecond: number, about: string) =>
        emit({ kind: 'job-loads', host: about, bytes, bytesPerSecond });
      const asOfRun = { runId, log, onBegin, onSecret, jobDeadlineMs };
      return remoteOf(effective, transport, { ...asOfRun, sudoPassword, onJobFollowed, onJobWaits, onJobLoads });
    },
    abort: () => dialling.abort(),
    close() {
      ssh.close();
      openssh.close();
      config.close();
    },
  };
}
