import { CommandError } from '../errors.ts';
import type { Command } from '../shell/command.ts';
import type { Pause } from '../transport/pause.ts';
import type { Exchange } from './exchange.ts';
import type { Held } from './remote.ts';

/** A held command that reads stdin gets one byte this often: silence means that nobody is there any more. */
const HEARTBEAT_MS = 10_000;

/** Starts a command, returns with its first line, and sends it a dot every ten seconds until it ends or is released. */
export async function hold(on: Exchange, command: Command<'sh'>, pause: Pause): Promise<Held> {
  const { channel, nonce } = await on.open(command);
  const over = new AbortController();
  const ended = channel.ended.then((result) => {
    over.abort();
    return result;
  });

  const first = await new Promise<string>((resolve, reject) => {
    let begun = false;
    channel.onLine((line) => {
      if (begun) resolve(line);
      begun ||= line.endsWith(nonce);
    });
    ended
      .then((result) => {
        reject(new CommandError(on.host.name, command.title, on.began(command, result, nonce)));
      })
      .catch(reject);
  });

  const beat = async () => {
    while (!over.signal.aborted) {
      channel.write('.');
      await pause(HEARTBEAT_MS, over.signal);
    }
  };
  void beat();

  return {
    first,
    ended: ended.then(({ status }) => status),
    async release() {
      over.abort();
      channel.close();
      await ended;
    },
  };
}
