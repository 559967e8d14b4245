import { CommandError } from '../../errors.ts';
import type { Command } from '../../shell/command.ts';
import { resultsIn } from '../../shell/powershell.ts';
import type { Pause } from '../../until.ts';
import { keepHeld } from '../held.ts';
import type { Held } from '../remote.ts';
import type { Exchange } from './exchange.ts';

/**
 * Starts a script and returns once its result line (a JSON string, decoded) arrives. Sends a dot every ten seconds
 * until the script ends or the caller releases it. The server ends the process with its channel.
 */
export async function hold(on: Exchange, command: Command<'powershell'>, pause: Pause): Promise<Held> {
  return keepHeld(await on.open(command), pause, {
    first: (line) => {
      const [result] = resultsIn(line);
      return result === undefined ? undefined : String(JSON.parse(result));
    },
    failure: (result) => {
      on.ended(command, result);
      return new CommandError(on.host.name, command.title, result);
    },
  });
}
