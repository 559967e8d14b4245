import type { Row } from './measure.ts';

const [WIDTH, HEIGHT, MARGIN] = [640, 400, 56];
const COLOURS = ['#1b6ac9', '#c0392b', '#2e8b57', '#8e44ad', '#b8860b'];

/** Wall time over hosts, both logarithmic, as SVG. */
export function chart(rows: readonly Row[]): string {
  const [xs, ys] = [rows.map(({ hosts }) => hosts), rows.map(({ wall }) => wall)];
  const scale = (values: readonly number[], from: number, to: number) => {
    const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
    const place = (value: number) => from + ((Math.log10(value) - low) / Math.max(1, high - low)) * (to - from);
    return { place, ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)) };
  };
  const x = scale(xs, MARGIN, WIDTH - MARGIN);
  const y = scale(ys, HEIGHT - MARGIN, MARGIN / 2);
  const text = (at: number, top: number, words: string, extra = '') =>
    `<text x="${at.toFixed(0)}" y="${top.toFixed(0)}" font-size="12" font-family="sans-serif" ${extra}>${words}</text>`;
  const grid = [
    ...x.ticks.map(
      (tick) =>
        `<line x1="${x.place(tick).toFixed(0)}" x2="${x.place(tick).toFixed(0)}" y1="${MARGIN / 2}" y2="${HEIGHT - MARGIN}" stroke="#ddd"/>${text(x.place(tick) - 8, HEIGHT - MARGIN + 18, String(tick))}`,
    ),
    ...y.ticks.map(
      (tick) =>
        `<line x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${y.place(tick).toFixed(0)}" y2="${y.place(tick).toFixed(0)}" stroke="#ddd"/>${text(8, y.place(tick) + 4, `${String(tick)} s`)}`,
    ),
  ];
  const lines = [...new Set(rows.map(({ who }) => who))].map((who, i) => {
    const mine = rows.filter((row) => row.who === who);
    const points = mine.map(({ hosts, wall }) => `${x.place(hosts).toFixed(1)},${y.place(wall).toFixed(1)}`).join(' ');
    const last = mine.at(-1)!;
    return `<polyline points="${points}" fill="none" stroke="${COLOURS[i]!}" stroke-width="2"/>${text(x.place(last.hosts) + 4, y.place(last.wall) + 4, who, `fill="${COLOURS[i]!}"`)}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH + 40} ${HEIGHT}" role="img" aria-label="wall time over hosts">${grid.join('')}${lines.join('')}${text(WIDTH / 2, HEIGHT - 8, 'hosts')}</svg>\n`;
}
