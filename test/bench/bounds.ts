/** A promise of the product, and what was measured of it. */
export interface Bound {
  readonly name: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit: number;
  /** Which side of the limit is fine. */
  readonly fine: 'at most' | 'at least';
  /** Absolute figures behind a ratio: they belong to the machine. */
  readonly beside?: string;
}

/** True when it is kept. */
export const kept = ({ measured, limit, fine }: Bound): boolean =>
  fine === 'at most' ? measured <= limit : measured >= limit;

const number = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

/** One line: the verdict first. */
export const boundText = (bound: Bound): string =>
  `${kept(bound) ? 'ok    ' : 'MISSED'} ${bound.name}: ${number(bound.measured)} ${bound.unit} (${bound.fine} ${number(bound.limit)})${bound.beside === undefined ? '' : `; ${bound.beside}`}`;

/** A table of Markdown. */
export const boundTable = (bounds: readonly Bound[]): string =>
  [
    '| bound | measured | limit | | on this machine |',
    '| --- | ---: | ---: | --- | --- |',
    ...bounds.map((bound) => {
      const { name, measured, unit, limit, fine, beside = '' } = bound;
      return `| ${name} | ${number(measured)} ${unit} | ${fine} ${number(limit)} | ${kept(bound) ? 'kept' : '**missed**'} | ${beside} |`;
    }),
  ].join('\n');
