import { describe, expect, test } from 'vitest';
import { hopsOf } from '../../src/upgrade/hop.ts';

describe('hops of an upgrade', () => {
  test.each([
    ['the versions are equal: no hop', '1.36.3', '1.36.3', [], [], []],
    ['a newer patch: one hop', '1.36.3', '1.36.4', [], ['1.36.4'], []],
    ['the next minor: one hop', '1.36.3', '1.37.1', [], ['1.37.1'], []],
    ['a minor in between is given', '1.35.8', '1.37.1', ['1.36.4'], ['1.36.4', '1.37.1'], []],
    ['the order of the given versions does not matter', '1.34.4', '1.37.1', ['1.36.4', '1.35.8'], ['1.35.8', '1.36.4', '1.37.1'], []], // prettier-ignore
    ['a minor in between is missing', '1.34.4', '1.37.1', ['1.36.4'], ['1.36.4', '1.37.1'], ['1.35']],
    ['of several versions of a minor the newest counts, as a number', '1.35.8', '1.37.1', ['1.36.9', '1.36.10'], ['1.36.10', '1.37.1'], []], // prettier-ignore
    ['versions outside of the way are ignored', '1.35.8', '1.36.4', ['1.34.4', '1.36.3', '1.37.1'], ['1.36.4'], []],
    ['an older minor: no hop', '1.36.3', '1.35.8', [], [], []],
    ['an older patch: no hop', '1.36.3', '1.36.2', [], [], []],
  ])('%s', (_, from, to, via, hops, missing) => {
    expect(hopsOf(from, to, via)).toEqual({ hops, missing });
  });

  test.each([
    ['a patch in between that was begun is finished, though an older one is given', ['1.36.2'], ['1.36.3', '1.35.8'], ['1.36.3', '1.37.1'], []], // prettier-ignore
    ['a patch in between that was begun is finished, though a newer one is given', ['1.36.4'], ['1.36.3'], ['1.36.3', '1.37.1'], []], // prettier-ignore
    ['a minor in between that was begun is not missing', [], ['1.36.3'], ['1.36.3', '1.37.1'], []], // prettier-ignore
  ])('%s', (_, via, begun, hops, missing) => {
    expect(hopsOf('1.35.8', '1.37.1', via, begun)).toEqual({ hops, missing });
  });
});
