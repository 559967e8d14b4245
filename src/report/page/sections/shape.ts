/** How many colours phases have; neighbours are told apart by all kinds of sight (test/report/page/colours.test.ts). */
export const TONES = 8;

/** The class of a phase's colour; `p0` for what is no phase. */
export const toneOf = (number: number): string => (number === 0 ? 'p0' : `p${String(((number - 1) % TONES) + 1)}`);

/** A share of a whole as SVG writes it: `12.34%`. */
export const percent = (part: number, whole: number): string => `${String(Math.round((part / whole) * 1e4) / 100)}%`;
