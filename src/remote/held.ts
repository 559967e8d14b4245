import type { Pause } from '../until.ts';
import type { Channel, ExecResult } from '../transport/transport.ts';
import type { Held } from './remote.ts';

/** A held command that reads stdin gets one byte this often, in ms: silence means that kbuild has died. */
const HEARTBEAT_MS = 10_000;
/** A held command ends after 45 s of silence. After this time, in ms, it may have ended: the two ends measure differently. */
const DOUBTFUL_MS = 30_000;

/** How the output of a held command is read. */
export interface Reading {
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
