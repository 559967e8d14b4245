import { until } from '../../until.ts';
import type { Run } from './run.ts';

/** How long the API may take after its host has booted, in ms: static pods started again within 40 s to 90 s. */
const PATIENCE_MS = 3 * 60_000;
const EVERY_MS = 5_000;

/**
 * Waits for an API that does not answer: a control plane may be booting after a power cut. Says so once. Returns when it answers, or
 * when it has not for 3 minutes; the command then tells why.
 */
export async function waitForApi({ connected, context, signal }: Run): Promise<void> {
  const reason = (): string | undefined => {
    const { cluster } = connected.observations.fleet();
    return cluster.state === 'down' ? cluster.reason : undefined;
  };
  const first = reason();
  if (first === undefined) return;
  context.err(`the API does not answer (${first}): waiting for it, at most ${String(PATIENCE_MS / 60_000)} minutes\n`);
  await until(
    async () => {
      await connected.observeAgain();
      return reason() === undefined ? true : undefined;
    },
    context.nowMs() + PATIENCE_MS,
    { pause: context.sleep, nowMs: context.nowMs, everyMs: EVERY_MS, signal },
  );
}
