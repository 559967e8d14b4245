import { ConnectError } from '../errors.ts';
import { sh } from '../shell/sh.ts';
import type { Pause } from '../transport/pause.ts';
import type { Exchange } from './exchange.ts';

const BOOT_MS = 5 * 60_000;

/** Restarts the host and waits for a boot id that is not the old one. @throws ConnectError when none answers within 5 min. */
export async function restart(
  on: Exchange,
  { pause, nowMs }: { readonly pause: Pause; readonly nowMs: () => number },
): Promise<void> {
  const bootId = async () => (await on.ask(sh`cat /proc/sys/kernel/random/boot_id`, 'shown')).stdout.trim();
  const before = await bootId();
  await ignoringLoss(() => on.ask(sh`systemctl --no-block reboot`, 'shown'));
  const startedMs = nowMs();
  while (nowMs() - startedMs < BOOT_MS) {
    await pause(1000);
    const now = await ignoringLoss(bootId);
    if (now !== undefined && now !== '' && now !== before) return;
  }
  throw new ConnectError(on.host.name, `does not come back after a restart (${String(BOOT_MS / 60_000)} min)`, {
    retryable: false,
  });
}

/**
 * A host that goes down ends its jobs first, and still answers for a while: returns when it is up again, at once when it is
 * not going down, and after 5 min at the latest.
 */
export async function upAgain(
  on: Exchange,
  { pause, nowMs }: { readonly pause: Pause; readonly nowMs: () => number },
): Promise<void> {
  const state = async () => (await on.ask(sh`systemctl is-system-running || :`, 'shown')).stdout.trim();
  const startedMs = nowMs();
  while (nowMs() - startedMs < BOOT_MS) {
    const now = await ignoringLoss(state);
    if (now !== undefined && now !== 'stopping') return;
    await pause(1000);
  }
}

/** A host that goes down or comes up answers in every way there is; PAM refuses logins while it boots. */
const ignoringLoss = <T>(act: () => Promise<T>): Promise<T | undefined> => act().catch(() => undefined);
