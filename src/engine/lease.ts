import { Refused } from '../errors.ts';
import { ADMIN_CONF, SUPER_ADMIN_CONF } from '../inventory/api-server.ts';
import type { Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { type Pause, pause as realPause, until } from '../wait.ts';
import { describe, type LockHolder } from './lock-holder.ts';

/** A control plane whose API answers, and the URL of its own API server. */
export interface ApiHost {
  readonly remote: Pick<Remote<'sh'>, 'run'>;
  readonly server: string;
}

/** The lock of a cluster, beside those of its hosts: also for inventories that have no host in common. */
export interface Lease {
  /** Settles when another run holds the Lease: this run must stop. Never settles after `release`. */
  readonly lost: Promise<Error>;
  release(): Promise<void>;
}

/** A Lease that does not change for so long is free, in s. */
const SECONDS_HELD = 45;
const RENEW_MS = 15_000;
/** How often another run's Lease is observed, to see whether it is renewed. */
const OBSERVE_MS = 3000;

/** How a Lease is waited for. */
interface LeaseOptions {
  readonly pause?: Pause;
  /** A clock that only goes forward, in ms. */
  readonly clockMs?: () => number;
  /** True when the run that the Lease names (`by USER@MACHINE (pid N) …`) is known to have ended. */
  readonly isGone?: (heldBy: string) => boolean;
  /** Another run's Lease was found, and is observed now: it may be left from a run that was killed. */
  readonly onWait?: (heldBy: string) => void;
  /** The run replaces the cluster's data: then the Lease may become one of a run that ended when the data was saved. */
  readonly replacesData?: true;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A Lease of another run, as it was observed first. */
interface Sighting {
  /** The object's version: each renewal changes it. */
  readonly version: string;
  readonly atMs: number;
}

/** The result of one try. `observed`: another run holds the Lease. `silent`: no API answers. */
type Tried = 'taken' | 'observed' | 'silent';

/**
 * Takes the Lease kbuild in kube-system and renews it. Where no API answers (`find` returns undefined) it is taken as
 * soon as one does. An API that does not answer for a while costs nothing: the hosts' locks hold meanwhile.
 *
 * Another run's Lease is free when it has not changed for 45 s by the clock of this process. The times in it are
 * another host's, and two hosts' clocks may differ by more than that.
 * @throws Refused when another run renews it; the signal's reason
 */
export async function holdLease(
  find: () => ApiHost | undefined,
  holder: LockHolder,
  options: LeaseOptions = {},
): Promise<Lease> {
  const { pause = realPause, clockMs = () => performance.now(), signal } = options;
  const over = new AbortController();
  const trial = trialOf(find, describe(holder), options);
  const tried = async () => ((await trial.next()) === 'observed' ? undefined : true);
  await until(tried, Infinity, { pause, nowMs: clockMs, everyMs: OBSERVE_MS, signal });
  const lost = new Promise<Error>((resolve) => {
    const renew = async () => {
      let last: Tried = 'taken';
      for (;;) {
        await pause(last === 'observed' ? OBSERVE_MS : RENEW_MS, over.signal);
        if (over.signal.aborted) return;
        last = await trial.next();
      }
    };
    renew().catch((error: unknown) => {
      if (!over.signal.aborted) resolve(error as Error);
    });
  });
  return {
    lost,
    async release() {
      over.abort();
      await trial.free();
    },
  };
}

/** Takes or renews the Lease, one try after another. */
function trialOf(
  find: () => ApiHost | undefined,
  line: string,
  { clockMs = () => performance.now(), isGone = () => false, onWait, replacesData }: LeaseOptions,
) {
  let isTaken = false;
  let sighting: Sighting | undefined;

  const take = (api: ApiHost): Promise<string> => {
    const isStale = sighting !== undefined && clockMs() - sighting.atMs >= SECONDS_HELD * 1000;
    const stale = isStale ? sighting!.version : '';
    return api.remote.run(command('take', api, line, stale)).catch(() => '');
  };
  const refused = (heldBy: string): Refused =>
    new Refused(
      'locked',
      'cluster',
      `locked: held ${heldBy}`,
      'wait until that run has ended; if it cannot end any more: kbuild unlock --force',
    );

  async function next(): Promise<Tried> {
    const api = find();
    if (api === undefined) return 'silent';
    let said = await take(api);
    const first = seen(said);
    if (!isTaken && first !== undefined && isGone(first.heldBy)) {
      // The holder was killed on this machine: the same command must not wait for its Lease. Freed only if it still
      // holds it.
      await api.remote.run(command('free', api, first.heldBy)).catch(() => '');
      said = await take(api);
    }
    if (said.startsWith('locked')) {
      isTaken = true;
      sighting = undefined;
      return 'taken';
    }
    const other = seen(said);
    if (other === undefined) return 'silent';
    if (replacesData === true) isTaken = false;
    if (isTaken || (sighting !== undefined && sighting.version !== other.version)) throw refused(other.heldBy);
    if (sighting === undefined) onWait?.(other.heldBy);
    sighting ??= { version: other.version, atMs: clockMs() };
    return 'observed';
  }

  return {
    next,
    async free(): Promise<void> {
      const api = isTaken ? find() : undefined;
      if (api !== undefined) await api.remote.run(command('free', api, line)).catch(() => '');
    },
  };
}

/** The holder and the version of the Lease in what the script printed; undefined when no run holds it. */
function seen(said: string): { readonly version: string; readonly heldBy: string } | undefined {
  const [, version, heldBy] = /^held (\S+) (by .*)$/.exec(said.trim()) ?? [];
  return version === undefined ? undefined : { version, heldBy: heldBy! };
}

/**
 * The holder of the cluster's Lease, in words; undefined when the Lease is free. @throws CommandError when the API does
 * not answer.
 */
export async function whoHoldsLease(api: ApiHost): Promise<string | undefined> {
  const said = (await api.remote.run(command('show', api, ''))).trim();
  return said === '' ? undefined : said.replace(/^held (?:by )?/, '');
}

/** Frees the Lease of any run. @throws CommandError when the API does not answer. */
export async function forceFreeLease(api: ApiHost): Promise<void> {
  await api.remote.run(command('force', api, ''));
}

const command = (action: 'take' | 'free' | 'show' | 'force', { server }: ApiHost, holder: string, stale = '') => ({
  ...script('engine/lease.sh', {
    ACTION: action,
    ADMIN: `${ADMIN_CONF}:${SUPER_ADMIN_CONF}`,
    SERVER: server,
    HOLDER: holder,
    QUOTED: JSON.stringify(holder),
    SECONDS_HELD,
    STALE: stale,
  }),
  title: `${action} the cluster's lease`,
});
