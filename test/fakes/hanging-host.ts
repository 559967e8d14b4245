import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linuxRemote, type LinuxRemote, type LinuxRemoteOptions } from '../../src/ssh/linux.ts';
import { dialSsh } from './dial-ssh.ts';
import { type FakeCommand, fakeSshServer, type FakeSshServer } from './ssh-server.ts';

/**
 * What becomes of a command. `hang`: it begins and never ends. `drip`: it prints for ever. `answer`: it ends with status 0. `job`: it
 * reports a job that has ended; a promise: it does so when the promise is kept.
 */
export type Fate = 'hang' | 'drip' | 'answer' | 'job' | Promise<'job'>;

/** Decides by a command's script, whether it is a job's, and how many connections there were. */
type FateOf = (command: { readonly script: string; readonly isJob: boolean; readonly connections: number }) => Fate;

/** A host that logs in and decides for each command whether it answers. */
export interface HangingHost {
  readonly remote: LinuxRemote;
  readonly connections: () => number;
  /** Of this machine, empty. */
  readonly folder: string;
  readonly stop: () => Promise<void>;
}

/** The script of a command, as soon as it has come: the client may keep its stdin open. */
const scriptOf = ({ channel, commandLine }: FakeCommand): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    channel.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const hasInput = commandLine.includes('base64');
      if (hasInput && text.includes('\n')) resolve(Buffer.from(text.split('\n')[0]!, 'base64').toString());
      if (!hasInput && text.endsWith('exit\n')) resolve(text);
    });
  });

async function answer(command: FakeCommand, connections: () => number, fateOf: FateOf): Promise<void> {
  const { channel } = command;
  const script = await scriptOf(command);
  const nonce = /^echo (\w+); echo/m.exec(script)?.[1] ?? '';
  const mark = /^MARK='?(\w+)'?$/m.exec(script)?.[1];
  const fate = await fateOf({ script, isJob: mark !== undefined, connections: connections() });
  const end = (text: string): void => {
    channel.write(`${nonce}\n${text}`);
    channel.stderr.write(`${nonce}\n`);
    channel.exit(0);
    channel.end();
  };
  const job = `${mark ?? ''} started\n${mark ?? ''} done success exited 0\ndone\n\n${mark ?? ''} end\n`;
  if (fate === 'answer') end('');
  else if (fate === 'job') end(job);
  else if (fate === 'drip') {
    const timer = setInterval(() => channel.write('x'), 20);
    channel.on('close', () => clearInterval(timer));
  }
}

/** Starts such a host and logs in to it. */
export async function hangingHost(fateOf: FateOf, options: Omit<LinuxRemoteOptions, 'runId'>): Promise<HangingHost> {
  const server: FakeSshServer = await fakeSshServer((command) => answer(command, () => server.connections(), fateOf));
  const host = { ...server.host, name: 'w1', ssh: { ...server.host.ssh, user: 'root' } };
  const transport = await dialSsh(host, { policy: 'strict' });
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-hanging-'));
  return {
    remote: linuxRemote(host, transport, { runId: 'test', ...options }),
    connections: server.connections,
    folder,
    stop: async () => {
      rmSync(folder, { recursive: true });
      await transport.close();
      await server.stop();
    },
  };
}
