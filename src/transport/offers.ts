import { until, type Pause } from '../until.ts';

/** What a server offers for its first key exchange, by kind. */
export type Offers = ReadonlyMap<string, string>;

/** A server that many dial at once closes some connections before it says anything (MaxStartups): it is asked so often. */
const ASKED = 4;

/** Asks a server what it offers until it answers. Empty when it never does. */
export async function offersOnceSaid(
  ask: () => Promise<Offers>,
  pause: Pause,
  random: () => number = Math.random,
): Promise<Offers> {
  let times = 0;
  const asked = async () => {
    const found = await ask();
    return found.size > 0 || ++times === ASKED ? found : undefined;
  };
  const longer: Pause = () => pause(200 * 2 ** times * (0.5 + random()));
  return (await until(asked, Infinity, { pause: longer, nowMs: Date.now, everyMs: 0 }))!;
}
