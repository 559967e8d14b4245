import { until, type Pause } from '../until.ts';

/** What a server offers for its first key exchange, by kind. */
export type Offers = ReadonlyMap<string, string>;

/** Attempts to learn the offers: a busy server closes some connections before it sends anything (MaxStartups). */
const ATTEMPTS = 4;

/** Repeats `ask` until the server sends its offers. Empty if it never does. */
export async function offersOnceSaid(
  ask: () => Promise<Offers>,
  pause: Pause,
  random: () => number = Math.random,
): Promise<Offers> {
  let times = 0;
  const asked = async () => {
    const found = await ask();
    return found.size > 0 || ++times === ATTEMPTS ? found : undefined;
  };
  const longer: Pause = () => pause(200 * 2 ** times * (0.5 + random()));
  return (await until(asked, Infinity, { pause: longer, nowMs: Date.now, everyMs: 0 }))!;
}
