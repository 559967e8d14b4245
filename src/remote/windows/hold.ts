import { CommandError } from '../../errors.ts';
import type { Command } from '../../shell/command.ts';
import { resultsIn } from '../../shell/powershell.ts';
import type { Pause } from '../../transport/pause.ts';
import type { Held } from '../remote.ts';
import type { Exchange } from './exchange.ts';

/** A held script that reads its stdin gets one byte this often: silence means that nobody is there any more. */
const HEARTBEAT_MS = 10_000;

/**
 * Starts a script, returns with its result line (a JSON string, decoded), and sends it a dot every ten seconds until it
 * ends or is released. The server ends the process with its channel.
 */
export async function hold(on: Exchange, command: Command<'powershell'>, pause: Pause): Promise<Held> {
  const channel = await on.open(command);
  const over = new AbortController();
  const ended = channel.ended.then((result) => {
    over.abort();
    return result;
  });
  const first = await new Promise<string>((resolve, reject) => {
    channel.onLine((line) => {
      const [result] = resultsIn(line);
      if (result !== undefined) resolve(String(JSON.parse(result)));
    });
    ended
      .then((result) => {
        on.ended(command, result);
        throw new CommandError(on.host.name, command.title, result);
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
