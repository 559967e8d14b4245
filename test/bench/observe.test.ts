import { expect, test } from 'vitest';
import { framedScript } from '../../src/cluster/fleet/framed-script.ts';
import { sh } from '../../src/shell/sh.ts';
import { wordOf } from './observe.ts';

test('the bench finds the word that frames the answers in the script as it is', () => {
  expect(wordOf(framedScript({ name: sh`hostname` }, 'abc123').script)).toBe('abc123');
});
