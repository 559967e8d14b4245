import { ConnectError } from '../../errors.ts';
import { powershell } from '../../templates.ts';
import { until, type Waiting } from '../../until.ts';
import type { Exchange } from './exchange.ts';

/** Windows may complete the installation of a feature while it boots. */
const BOOT_MS = 15 * 60_000;
const POLL_MS = 2000;
/** When the clock is set, Windows shifts the reported time of its last boot by the same amount. */
const DRIFT_MS = 5000;

/**
 * Restarts the host and waits until its boot time has changed: a host that shuts down still answers for a while.
 * @throws ConnectError if the host does not come back within 15 min.
 */
export async function restart(on: Exchange, { pause, nowMs }: Pick<Waiting, 'pause' | 'nowMs'>): Promise<void> {
  const bootTime = () =>
    on.ask({ ...powershell('windows/boot-time.ps1'), title: 'ask for the time of the last boot' }, 'shown');
  const before = await bootTime();
  await on
    .ask({ ...powershell('windows/restart.ps1', { Before: JSON.parse(before) as string }), title: 'restart' }, 'shown')
    .catch((error: unknown) => {
      // A lost connection may mean that the host shuts down. Any other error means that the restart was not requested.
      if (!(error instanceof Error) || !isLoss(error)) throw error;
    });
  const restarted = async () => {
    const now = await bootTime().catch(() => undefined);
    return now !== undefined && Math.abs(timeOf(now) - timeOf(before)) >= DRIFT_MS ? true : undefined;
  };
  if ((await until(restarted, nowMs() + BOOT_MS, { pause, nowMs, everyMs: POLL_MS })) === true) return;
  throw new ConnectError(on.host.name, `does not come back after a restart (${String(BOOT_MS / 60_000)} min)`, {
    retryable: false,
  });
}

const timeOf = (json: string): number => Number(JSON.parse(json));

const isLoss = (error: Error): boolean =>
  error instanceof ConnectError || (error as { readonly status?: unknown }).status === 'lost';
