import type { Standing } from '../cluster-view.ts';
import type { Tone } from './signs.ts';

/** How a host stands: its tone, its sign and the word for it. */
export const STANDINGS: Readonly<Record<Standing, readonly [tone: Tone, sign: string, word: string]>> = {
  ready: ['good', '✔', 'ready'],
  'not ready': ['bad', '✖', 'not ready'],
  failed: ['bad', '✖', 'failed in this run'],
  unreachable: ['bad', '✖', 'does not answer'],
  'not joined': ['quiet', '○', 'has not joined'],
  'no node': ['note', '●', 'answers'],
  unknown: ['quiet', '?', 'not known'],
};
