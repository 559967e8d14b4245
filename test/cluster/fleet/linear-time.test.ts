import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFrames } from '../../../src/cluster/fleet/framed-script.ts';
import { linuxProbes } from '../../../src/cluster/fleet/linux.ts';
import { linuxHosts } from '../../../src/inventory/hosts.ts';
import { watched } from '../../fakes/facts.ts';
import { inventory } from '../../fakes/inventory.ts';
import { hasLinearTime } from '../../tools/linear-time.ts';

const inv = inventory();
const host = linuxHosts(inv)[0]!;
const PROBES = linuxProbes(inv, host, watched(inv)(host));

const answers = readFrames(
  readFileSync(new URL('../../fixtures/linux/debian-12-prepared.txt', import.meta.url), 'utf8'),
  '',
  'NONCE',
);
const answerTo = (name: string): string => {
  const answer = answers[name];
  return answer !== undefined && 'stdout' in answer ? answer.stdout : '';
};

/** What a hostile host repeats: what patterns skip (blanks, line ends of all kinds), what they collect, and marks. */
const PIECES = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\u2028',
  'a',
  '1',
  '1.',
  'a ',
  ' a',
  '  a',
  '=',
  '-',
  ':',
  '/',
  '"',
  '#',
  'a=',
  '\\',
];

/** The beginning of an answer, the piece again and again, and an end that no pattern expects. */
const texts = (answer: string): readonly ((piece: string) => string)[] => {
  const first = answer.slice(0, 2000);
  const ends = ['', ' ', '=', ': '].map((mark) => first.indexOf(mark) + mark.length);
  return [...new Set([0, ...ends, first.length])].map((at) => (pieces) => `${first.slice(0, at)}${pieces}\u0001\r`);
};

test.each(Object.keys(PROBES))(
  'the answer of a host about %s is read in a time that grows with its length alone',
  (name) => {
    const { parse } = PROBES[name as 'arch'];
    const read = (text: string): unknown => {
      try {
        return parse(text, { middleMs: 0 });
      } catch (error) {
        return error;
      }
    };
    for (const make of texts(answerTo(name)))
      for (const piece of PIECES)
        expect({ piece, linear: hasLinearTime((n) => make(piece.repeat(n)), read) }).toEqual({ piece, linear: true });
  },
  60_000,
);
