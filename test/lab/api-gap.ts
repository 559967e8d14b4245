/** How long an API is gone: asked every 100 ms, over a new connection each time. */
import { request } from 'node:https';

const PERIOD_MS = 100;
const ANSWER_MS = 700;

/** One request to /readyz: did it answer 200 in time? */
export const isReady = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request(
      { host: address, port, path: '/readyz', rejectUnauthorized: false, agent: false, timeout: ANSWER_MS },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });

/** Watches an API until `stop`, which tells the longest time in ms from one good answer to the next. */
export function watchApi(address: string, port: number): { readonly stop: () => Promise<number> } {
  let last = performance.now();
  let longest = 0;
  const pending = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const asked = isReady(address, port).then((ready) => {
      if (!ready) return;
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    });
    pending.add(asked);
    void asked.finally(() => pending.delete(asked));
  }, PERIOD_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(pending);
      return Math.max(longest, performance.now() - last);
    },
  };
}
