import { CommandError } from '../errors.ts';
import type { Command } from '../shell/command.ts';
import type { Pause } from '../until.ts';
import type { Exchange } from './exchange.ts';
import { keepHeld } from './held.ts';
import type { Held } from './remote.ts';

/** Starts a command, returns with its first line, and sends it a dot every ten seconds until it ends or is released. */
export async function hold(on: Exchange, command: Command<'sh'>, pause: Pause): Promise<Held> {
  const { channel, nonce } = await on.open(command);
  let begun = false;
  return keepHeld(channel, pause, {
    first: (line) => {
      if (begun) return line;
      begun = line.endsWith(nonce);
      return undefined;
    },
    failure: (result) => new CommandError(on.host.name, command.title, on.began(command, result, nonce)),
  });
}
