import { ConnectError, NoAnswer } from '../errors.ts';
import { sh } from '../shell/sh.ts';
import { pause, until, type Waiting } from '../wait.ts';
import type { Exchange } from './exchange.ts';
import type { Channel } from './transport.ts';

/** A watch over a channel that may be silent for as long as its work takes. */
interface HungWatch {
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

const BOOT_MS = 5 * 60_000;
const AGAIN_MS = 1000;

type Clock = Pick<Waiting, 'pause' | 'nowMs'>;

/**
 * Restarts the host and waits for a boot id that is not the old one. @throws ConnectError when none answers within 5
 * min.
 */
export async function restart(on: Exchange, clock: Clock): Promise<void> {
  const bootId = async () => (await on.ask(sh`cat /proc/sys/kernel/random/boot_id`, 'shown', 'short')).stdout.trim();
  const before = await bootId();
  await ignoringLoss(() => on.ask(sh`systemctl --no-block reboot`, 'shown', 'short'));
  if (await comes(bootId, (now) => now !== '' && now !== before, clock)) return;
  throw new ConnectError(on.host.name, `does not come back after a restart (${String(BOOT_MS / 60_000)} min)`, {
    retryable: false,
  });
}

/**
 * A host that goes down ends its jobs first, and still answers for a while: returns when it is up again, at once when
 * it is not going down, and after 5 min at the latest.
 */
export async function upAgain(on: Exchange, clock: Clock): Promise<void> {
  const state = async () => (await on.ask(sh`systemctl is-system-running || :`, 'shown', 'short')).stdout.trim();
  await comes(state, (now) => now !== 'stopping', clock);
}

/** Repeats a command, also after lost connections, until its answer is good; false if it is not within 5 min. */
async function comes(
  ask: () => Promise<string>,
  isGood: (answer: string) => boolean,
  { pause, nowMs }: Clock,
): Promise<boolean> {
  const answered = async () => {
    const answer = await ignoringLoss(ask);
    return answer !== undefined && isGood(answer) ? true : undefined;
  };
  return (await until(answered, nowMs() + BOOT_MS, { pause, nowMs, everyMs: AGAIN_MS })) === true;
}

/** A host that goes down or comes up answers in every way there is; PAM refuses logins while it boots. */
const ignoringLoss = <T>(act: () => Promise<T>): Promise<T | undefined> => act().catch(() => undefined);
