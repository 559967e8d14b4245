import { NoAnswer } from '../errors.ts';
import { sh } from '../shell/sh.ts';
import { pause } from '../wait.ts';
import type { Exchange } from './exchange.ts';
import type { Channel } from './transport.ts';

/** A watch over a channel that may be silent for as long as its work takes. */
export interface HungWatch {
  /** The channel said something. */
  readonly heard: () => void;
  /** Ends the watch. True if the channel was dropped because its host hangs. */
  readonly end: () => boolean;
}

/**
 * Drops a channel whose host hangs: one that logs in, keeps the connection and runs nothing. If the channel is silent
 * for 2 min, the host is given a command that does nothing, and one minute for it. What the channel has started goes on
 * there.
 */
export function watchHung(on: Exchange, channel: Channel): HungWatch {
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  let heardSince = false;
  let isHung = false;
  const answers = async (): Promise<boolean> => {
    try {
      await on.ask({ ...sh`:`, title: 'does it still answer?' }, 'hidden', 'short');
    } catch (error) {
      // A connection that was lost ends the channel by itself.
      return !(error instanceof NoAnswer);
    }
    return true;
  };
  const isSilent = async (): Promise<boolean> => {
    heardSince = false;
    // Real time: it guards against a real host.
    await pause(on.silenceMs, over.signal);
    return !heardSince;
  };
  const watch = async (): Promise<void> => {
    while (!isOver()) {
      if (!(await isSilent()) || isOver() || (await answers())) continue;
      isHung = !isOver();
      if (isHung) channel.drop();
      return;
    }
  };
  void watch();
  return {
    heard: () => void (heardSince = true),
    end: () => {
      over.abort();
      return isHung;
    },
  };
}
