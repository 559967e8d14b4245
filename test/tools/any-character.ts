import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10_ffff;

/**
 * Any character of Unicode, as a unit of `fc.string`. fast-check's own `binary` builds a table of all 1.1 million at
 * its first use, which takes a second in each worker.
 */
export const anyCharacter = fc.nat(LAST - SURROGATES).map(
  (index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('not one character');
    if (code >= SURROGATES_FROM && code < SURROGATES_FROM + SURROGATES) throw new Error('a surrogate');
    return code < SURROGATES_FROM ? code : code - SURROGATES;
  },
);
