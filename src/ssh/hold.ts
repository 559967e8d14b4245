import { CommandError } from '../errors.ts';
import type { Command } from '../shell/command.ts';
import type { Pause } from '../wait.ts';
import type { Exchange } from './exchange.ts';
import type { Held } from './remote.ts';
import { watchHung } from './reboot.ts';
import type { Channel, ExecResult } from './transport.ts';

/** Milliseconds between two bytes to a held command that reads stdin: silence means that kbuild has died. */
const HEARTBEAT_MS = 10_000;
/**
 * A held command ends after 45 s of silence. After this time, in ms, it may have ended: the two ends measure
 * differently.
 */
const DOUBTFUL_MS = 30_000;

/** How the output of a held command is read. */
interface Reading {
  /** The command's first word, from a line of its output; undefined for other lines. */
  readonly first: (line: string) => string | undefined;
  /** Why the command ended before its first word; may throw instead. */
  readonly failure: (result: ExecResult) => Error;
}

/** Returns with the first word of a command, and sends it a dot every ten seconds until it ends or is released. */
export async function keepHeld(
  channel: Channel,
  pause: Pause,
  { first, failure }: Reading,
  // The time of day: it goes on while the machine sleeps.
  nowMs: () => number = Date.now,
): Promise<Held> {
  const over = new AbortController();
  const ended = channel.ended.then((result) => {
    over.abort();
    return result;
  });
  const word = await new Promise<string>((resolve, reject) => {
    channel.onLine((line) => {
      const word = first(line);
      if (word !== undefined) resolve(word);
    });
    ended
      .then((result) => {
        reject(failure(result));
      })
      .catch(reject);
  });
  let beatMs = nowMs();
  let wasSilent = false;
  const isSilent = () => nowMs() - beatMs > DOUBTFUL_MS;
  const beat = async () => {
    while (!over.signal.aborted) {
      wasSilent ||= isSilent();
      beatMs = nowMs();
      channel.write('.');
      await pause(HEARTBEAT_MS, over.signal);
    }
  };
  void beat();
  return {
    first: word,
    ended: ended.then(({ status }) => status),
    isDoubtful: () => wasSilent || isSilent(),
    trust: () => {
      wasSilent = false;
      beatMs = nowMs();
    },
    async release() {
      over.abort();
      channel.close();
      await ended;
    },
  };
}

/** Starts a command, returns with its first line, and sends it a dot every ten seconds until it ends or is released. */
export async function hold(on: Exchange, command: Command<'sh'>, pause: Pause): Promise<Held> {
  const { channel, nonce } = await on.open(command);
  let begun = false;
  const watch = watchHung(on, channel);
  const holding = keepHeld(channel, pause, {
    first: (line) => {
      watch.heard();
      if (begun) return line;
      begun = line.endsWith(nonce);
      return undefined;
    },
    failure: (result) => new CommandError(on.host.name, command.title, on.began(command, result, nonce)),
  });
  return holding.finally(watch.end);
}
