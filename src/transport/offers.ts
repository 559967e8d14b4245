import { pause } from './pause.ts';

/** What a server offers for its first key exchange, by kind. */
export type Offers = ReadonlyMap<string, string>;

/** A server that many dial at once closes some connections before it says anything (MaxStartups): how often it is asked. */
const ASKED = 4;

/** Asks a server what it offers until it says so. Empty when it never does. */
export async function offersOnceSaid(ask: () => Promise<Offers>): Promise<Offers> {
  let found = await ask();
  for (let times = 1; times < ASKED && found.size === 0; times++) {
    await pause(200 * 2 ** times * (0.5 + Math.random()));
    found = await ask();
  }
  return found;
}
