import { combined, ConnectError, Refused, throwAll } from '../errors.ts';
import { eachLimit } from '../limit.ts';
import { paths, windowsPaths } from '../paths.ts';
import { textIn } from '../shell/decode.ts';
import type { Held, Remote } from '../ssh/remote.ts';
import { powershell, script } from '../templates.ts';
import { pause as realPause, type Pause, retried } from '../wait.ts';
import { describe, type LockHolder } from './lock-holder.ts';

/** The locks of all hosts of a run. */
export interface Lock {
  /**
   * Settles when a host's lock was lost and could not be taken again: the run must stop. Never settles after `release`,
   * nor because a worker does not come back: no run holds its lock then, and the run goes on with the other hosts.
   */
  readonly lost: Promise<Error>;
  /**
   * When each host's lock was used before this run took it, as in the fact `lockUsed`. A host that does not report it
   * is missing.
   */
  readonly usedBefore: ReadonlyMap<string, string>;
  /**
   * Resolves as soon as this run may change the host: when it holds the host's lock and the locks of all hosts that are
   * not workers. Returns how often this run lost a lock and took it again: another run may have changed hosts
   * meanwhile. After this process was frozen or asleep, it asks its hosts first.
   * @throws what `lost` settles with; ConnectError when the host is a worker that does not come back
   */
  readonly held: (host: string) => Promise<number>;
  release(): Promise<void>;
}

/**
 * Files with keys that a run makes under the host's lock and removes; the second is the place of the first until kbuild
 * 0.1.
 */
const LEFTOVERS = [paths.keptKubernetes, `${paths.state}/etc-kubernetes.tar`];

type LockableOf<S extends 'sh' | 'powershell'> = Pick<Remote<S>, 'host' | 'hold' | 'run'>;
type Lockable = LockableOf<'sh'> | LockableOf<'powershell'>;

const isWindows = (remote: Lockable): remote is LockableOf<'powershell'> => remote.host.os === 'windows';

const isWorker = ({ host }: Lockable): boolean => host.role === 'worker';

/** The first word that the script prints when it holds the lock. */
const LOCKED = 'locked';
const AT_ONCE = 30;
/** For so long, the lock of an unreachable host is tried again, in ms. Its jobs are waited for as long. */
const PATIENCE_MS = 5 * 60_000;
/** Windows may install features while it boots. */
const WINDOWS_PATIENCE_MS = 15 * 60_000;
const AGAIN_MS = 2000;
/**
 * After all locks were verified, they count as held for so long, in ms: each step of each host asks. A lock ends only
 * after a far longer silence. Measured by the time of day, which goes on while the machine sleeps.
 */
const SURE_MS = 1000;
/** Exit status of a process that Windows' Stop-Process has ended. */
const STOPPED = 0xffffffff;

/**
 * Takes the lock of every host, or none. A lock is a process on the host that lives as long as its channel: the kernel
 * frees it when kbuild or the host dies; silence of 45 s frees it too. The first host by name is locked first, so that
 * of two runs one gets all locks. @throws Refused when another run holds a lock; ConnectError
 */
export async function lockHosts(
  remotes: readonly Lockable[],
  holder: LockHolder,
  { pause = realPause, nowMs = Date.now }: { readonly pause?: Pause; readonly nowMs?: () => number } = {},
): Promise<Lock> {
  const line = describe(holder);
  const sorted = [...remotes].sort((a, b) => (a.host.name < b.host.name ? -1 : 1));
  const over = new AbortController();
  const held = new Map<string, Held>();
  const releaseAll = async () => {
    over.abort();
    await Promise.all([...held.values()].map((one) => one.release()));
  };
  const take = async (remote: Lockable) => {
    held.set(remote.host.name, await takeOne(remote, line));
  };

  const first = rejections(await eachLimit(sorted.slice(0, 1), AT_ONCE, take));
  const failed = first.length > 0 ? first : rejections(await eachLimit(sorted.slice(1), AT_ONCE, take));
  if (failed.length > 0) {
    await releaseAll();
    throw combined(failed);
  }

  const usedBefore = new Map(
    [...held].flatMap(([name, { first }]) =>
      first === LOCKED ? [] : [[name, first.slice(LOCKED.length + 1)] as const],
    ),
  );
  const again: Again = { times: 0, taking: new Map() };
  const lost = new Promise<Error>((resolve) => {
    for (const remote of sorted)
      void keep(remote, line, { held, again, pause, nowMs, over: over.signal }).then((error) => {
        if (error !== undefined) resolve(error);
      });
  });
  let looked: { readonly atMs: number; readonly sure: Promise<unknown> } | undefined;
  const workers = new Set(sorted.filter(isWorker).map((remote) => remote.host.name));
  const heldNow = async (host: string): Promise<number> => {
    if (looked === undefined || Math.abs(nowMs() - looked.atMs) >= SURE_MS) {
      const doubted = sorted.filter((remote) => !again.taking.has(remote.host.name));
      looked = { atMs: nowMs(), sure: Promise.all(doubted.map((remote) => makeSure(remote, line, held))) };
    }
    await looked.sure;
    // A run that changes a worker must also hold the locks of all hosts that are not workers.
    await Promise.all(
      [...again.taking].flatMap(([name, taking]) => (name === host || !workers.has(name) ? [taking] : [])),
    );
    return again.times;
  };
  return { lost, usedBefore, held: heldNow, release: releaseAll };
}

const rejections = (results: readonly PromiseSettledResult<void>[]): readonly Error[] =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));

async function takeOne(remote: Lockable, line: string): Promise<Held> {
  const held = await holding(remote, line);
  if (held.first.split(' ', 1)[0] === LOCKED) return held;
  throw isLocked(remote, held.first);
}

function holding(remote: Lockable, line: string): Promise<Held> {
  const title = 'take the lock';
  if (!isWindows(remote)) {
    return remote.hold({ ...script('engine/lock.sh', { LOCK: paths.lock, HOLDER: line, LEFTOVERS }), title });
  }
  const { state, lock } = windowsPaths;
  return remote.hold({ ...powershell('windows/lock.ps1', { Root: state, Lock: lock, Holder: line }), title });
}

/** Locks that were lost. */
interface Again {
  /** How often a lock was taken again. */
  times: number;
  /** Those that are being taken again, or cannot be, by host. */
  readonly taking: Map<string, Promise<unknown>>;
}

interface Keeping {
  readonly held: Map<string, Held>;
  readonly again: Again;
  readonly pause: Pause;
  readonly nowMs: () => number;
  readonly over: AbortSignal;
}

/**
 * Takes the lock again each time it is lost, until `over`. Returns why the run must stop; undefined when it need not.
 */
async function keep(remote: Lockable, line: string, keeping: Keeping): Promise<Error | undefined> {
  const { held, again, over } = keeping;
  const { name } = remote.host;
  const retake = async (status: number | string): Promise<void> => {
    if (String(status).startsWith('SIG') || status === STOPPED)
      throw new Refused('lock-freed', name, 'the lock was freed by force');
    held.set(name, await takeAgain(remote, line, keeping));
    again.times += 1;
  };
  try {
    for (;;) {
      const status = await held.get(name)!.ended;
      if (over.aborted) return undefined;
      const taking = retake(status);
      again.taking.set(name, taking);
      await taking;
      again.taking.delete(name);
    }
  } catch (error) {
    const isOnlyGone = error instanceof ConnectError && isWorker(remote);
    return over.aborted || isOnlyGone ? undefined : (error as Error);
  }
}

/**
 * Verifies on its host a lock that may have ended unnoticed. Releases the lock when this run does not hold it any more.
 */
async function makeSure(remote: Lockable, line: string, held: Map<string, Held>): Promise<void> {
  const one = held.get(remote.host.name)!;
  if (!one.isDoubtful()) return;
  const holder = await whoHolds(remote).catch(() => undefined);
  if (holder === nameIn(line)) one.trust();
  else {
    await one.release();
    // `keep` waits for the same end, and was first: it is taking the lock again now.
    await one.ended;
  }
}

async function takeAgain(remote: Lockable, line: string, { pause, nowMs, over }: Keeping): Promise<Held> {
  const take = async () => {
    const again = await takeOne(remote, line);
    // The run released its locks while this one was being taken again.
    if (over.aborted) await again.release();
    return again;
  };
  const deadlineMs = nowMs() + (isWindows(remote) ? WINDOWS_PATIENCE_MS : PATIENCE_MS);
  const isRetryable = (error: unknown) => error instanceof ConnectError && error.retryable;
  return retried(take, isRetryable, deadlineMs, { pause, nowMs, everyMs: AGAIN_MS, signal: over });
}

/** The holder of a host's lock, in words; undefined when the lock is free. */
export const whoHolds = (remote: Lockable): Promise<string | undefined> => lockHolder(remote, 'no');

const isLocked = ({ host }: Lockable, words: string): Refused =>
  new Refused(
    'locked',
    host.name,
    `locked: ${words}`,
    'wait until that run has ended; if it runs nowhere any more: kbuild unlock --force',
  );

/** Checks that no other run holds a lock on these hosts. Takes no lock itself. @throws Refused */
export async function refuseLocked(remotes: readonly Lockable[]): Promise<void> {
  const held = await eachLimit(remotes, AT_ONCE, async (remote) => {
    const holder = await whoHolds(remote);
    if (holder !== undefined) throw isLocked(remote, `held by ${holder}`);
  });
  throwAll(rejections(held));
}

/** Ends the process that holds a host's lock, if there is one. Never ends a job. */
export async function forceUnlock(remote: Lockable): Promise<void> {
  await lockHolder(remote, 'yes');
}

async function lockHolder(remote: Lockable, force: 'yes' | 'no'): Promise<string | undefined> {
  const said = isWindows(remote)
    ? textIn(
        JSON.parse(
          await remote.run(powershell('windows/lock-holder.ps1', { Lock: windowsPaths.lock, Force: force })),
        ) ?? '',
      )
    : await remote.run(script('engine/lock-holder.sh', { LOCK: paths.lock, FORCE: force }));
  const line = said.trim();
  return line === '' ? undefined : nameIn(line);
}

/** The holder in a line of `describe`. */
const nameIn = (line: string): string => line.replace(/^by /, '');
