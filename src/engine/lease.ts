import { Refused } from '../errors.ts';
import { ADMIN_CONF, SUPER_ADMIN_CONF } from '../inventory/api-server.ts';
import type { Remote } from '../remote/remote.ts';
import { script } from '../templates.ts';
import { pause as realPause, type Pause } from '../transport/pause.ts';
import { describe, type LockHolder } from './lock.ts';

/** A control plane whose API answers, and the URL of its own API server. */
export interface ApiHost {
  readonly remote: Pick<Remote<'sh'>, 'run'>;
  readonly server: string;
}

/** The lock of a cluster, beside those of its hosts: also for inventories that have no host in common. */
export interface Lease {
  /** Settles when somebody else has it: the run must stop. Never after `release`. */
  readonly lost: Promise<Error>;
  release(): Promise<void>;
}

/** Without a renewal for so long a Lease is free, in s. */
const SECONDS_HELD = 45;
const RENEW_MS = 15_000;

/** How a Lease is waited for. */
export interface LeaseOptions {
  readonly pause?: Pause;
  /** True when the holder that the Lease names (`by USER@MACHINE (pid N) …`) is known to be dead. */
  readonly isGone?: (heldBy: string) => boolean;
}

/**
 * Takes the Lease kbuild in kube-system and renews it. Where no API answers (`find` returns undefined) it is taken as soon
 * as one does. An API that does not answer for a while costs nothing: the hosts' locks hold meanwhile.
 * @throws Refused when somebody else holds it.
 */
export async function holdLease(
  find: () => ApiHost | undefined,
  holder: LockHolder,
  { pause = realPause, isGone = () => false }: LeaseOptions = {},
): Promise<Lease> {
  const line = describe(holder);
  const over = new AbortController();
  let taken = false;
  const take = async (): Promise<void> => {
    const api = find();
    if (api === undefined) return;
    const ask = (): Promise<string> => api.remote.run(command('take', api, line)).catch(() => '');
    let said = await ask();
    const other = /^held (by .*)$/.exec(said.trim())?.[1];
    if (!taken && other !== undefined && isGone(other)) {
      // A kbuild that was killed on this machine: the same command must not wait for its Lease. Freed only if still its.
      await api.remote.run(command('free', api, other)).catch(() => '');
      said = await ask();
    }
    taken ||= said.startsWith('locked');
    if (said.startsWith('held'))
      throw new Refused(
        'cluster',
        `locked: ${said.trim()}`,
        'wait until it is done; if nobody works there any more: kbuild unlock --force',
      );
  };
  await take();
  const lost = new Promise<Error>((resolve) => {
    const renew = async () => {
      for (;;) {
        await pause(RENEW_MS, over.signal);
        if (over.signal.aborted) return;
        await take();
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
      const api = taken ? find() : undefined;
      if (api !== undefined) await api.remote.run(command('free', api, line)).catch(() => '');
    },
  };
}

/** Who holds the cluster's Lease, in words; undefined when nobody does. @throws CommandError when the API does not answer. */
export async function whoHoldsLease(api: ApiHost): Promise<string | undefined> {
  const said = (await api.remote.run(command('show', api, ''))).trim();
  return said === '' ? undefined : said.replace(/^held (?:by )?/, '');
}

/** Frees the Lease, whoever holds it. @throws CommandError when the API does not answer. */
export async function forceFreeLease(api: ApiHost): Promise<void> {
  await api.remote.run(command('force', api, ''));
}

const command = (action: 'take' | 'free' | 'show' | 'force', { server }: ApiHost, holder: string) => ({
  ...script('linux/lease.sh', {
    ACTION: action,
    ADMIN: `${ADMIN_CONF}:${SUPER_ADMIN_CONF}`,
    SERVER: server,
    HOLDER: holder,
    QUOTED: JSON.stringify(holder),
    SECONDS_HELD,
  }),
  title: `${action} the cluster's lease`,
});
