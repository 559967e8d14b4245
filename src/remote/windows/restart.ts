import { ConnectError } from '../../errors.ts';
import { powershell } from '../../templates.ts';
import { until, type Waiting } from '../../until.ts';
import type { Exchange } from './exchange.ts';

/** Windows may complete the installation of a feature while it boots. */
const BOOT_MS = 15 * 60_000;
const POLL_MS = 2000;
/** How much the time of two answers may differ, besides the time that they took. */
const TOLERANCE_MS = 5000;

/**
 * Restarts the host and waits until it has been up for less than it would without: a host that shuts down still answers for
 * a while. Clocks prove nothing, because they are set after a boot.
 * @throws ConnectError if the host does not come back within 15 min.
 */
export async function restart(on: Exchange, { pause, nowMs }: Pick<Waiting, 'pause' | 'nowMs'>): Promise<void> {
  const uptimeMs = async () =>
    Number(
      JSON.parse(await on.ask({ ...powershell('windows/uptime.ps1'), title: 'ask how long it has been up' }, 'shown')),
    );
  const before = await uptimeMs();
  const askedAt = performance.now();
  await on
    .ask({ ...powershell('windows/restart.ps1', { Before: String(before) }), title: 'restart' }, 'shown')
    .catch((error: unknown) => {
      // A lost connection may mean that the host shuts down. Any other error means that the restart was not requested.
      if (!(error instanceof Error) || !isLoss(error)) throw error;
    });
  const restarted = async () => {
    const now = await uptimeMs().catch(() => undefined);
    if (now === undefined) return undefined;
    const withoutRestart = before + (performance.now() - askedAt);
    return now < before || now < withoutRestart - TOLERANCE_MS ? true : undefined;
  };
  if ((await until(restarted, nowMs() + BOOT_MS, { pause, nowMs, everyMs: POLL_MS })) === true) return;
  throw new ConnectError(on.host.name, `does not come back after a restart (${String(BOOT_MS / 60_000)} min)`, {
    retryable: false,
  });
}

const isLoss = (error: Error): boolean =>
  error instanceof ConnectError || (error as { readonly status?: unknown }).status === 'lost';
