import { describe, expect, test } from 'vitest';
import { TONES } from '../../../src/report/page/html.ts';
import { pagePart } from '../../../src/templates.ts';

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** How people see colours: all of them, or as Machado, Oliveira and Fernandes (2009) simulate colour blindness. */
const SIGHTS: Readonly<Record<string, Matrix>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** From linear sRGB to XYZ as shares of the white of D65. */
const TO_XYZ: Matrix = [
  [0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047],
  [0.2126, 0.7152, 0.0722],
  [0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883],
];

const each = ([a, b, c]: Triple, change: (value: number) => number): Triple => [change(a), change(b), change(c)];

const dot = ([x, y, z]: Triple, [a, b, c]: Triple): number => x * a + y * b + z * c;

const times = ([first, second, third]: Matrix, by: Triple): Triple => [dot(first, by), dot(second, by), dot(third, by)];

const linear = (hex: string): Triple =>
  each([1, 3, 5], (at) => {
    const share = parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });

/** As WCAG defines it. */
function contrast(one: string, other: string): number {
  const [darker, lighter] = [one, other].map((hex) => dot(TO_XYZ[1], linear(hex))).toSorted((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

/** CIELAB of a colour as a person sees it. */
function lab(hex: string, sight: Matrix): Triple {
  const seen = times(TO_XYZ, times(sight, linear(hex)));
  const [x, y, z] = each(seen, (value) =>
    value > 0.008856 ? Math.cbrt(value) : 7.787 * Math.max(0, value) + 16 / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (one: string, other: string, sight: Matrix): number => {
  const [from, to] = [lab(one, sight), lab(other, sight)];
  return Math.hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2]);
};

const variables = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...text.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]));
const [lightText = '', darkText = ''] = pagePart('page.css').split('@media screen and (prefers-color-scheme: dark)');
const light = variables(lightText);
const dark = variables(darkText.slice(0, darkText.indexOf('\n}\n')));
const SCHEMES = { light, dark };
const phases = Array.from({ length: TONES }, (_, at) => `p${String(at + 1)}`);

test('both schemes name the same colours', () => {
  expect(Object.keys(dark)).toEqual(Object.keys(light));
});

describe.each(Object.entries(SCHEMES))('the colours of a report, %s', (_, colours) => {
  const of = (name: string): string => colours[name]!;

  test('text has a contrast of 4.5 to what it stands on', () => {
    const pairs: readonly (readonly [string, string])[] = [
      ...['ink', 'muted', 'good', 'bad', 'warn', 'note', 'link'].flatMap((name) => [
        [name, 'card'] as const,
        [name, 'bg'] as const,
      ]),
      ...['good', 'bad', 'warn', 'note'].map((name) => [name, `${name}-bg`] as const),
      ['ink', 'sunk'],
      ['muted', 'sunk'],
      ...phases.map((name) => ['on', name] as const),
    ];
    for (const [text, ground] of pairs)
      expect(contrast(of(text), of(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  test('bars have a contrast of 3 to the card', () => {
    for (const name of ['p0', ...phases]) expect(contrast(of(name), of('card')), name).toBeGreaterThanOrEqual(3);
  });

  test('phases that follow each other are told apart by every kind of sight', () => {
    for (const [sight, matrix] of Object.entries(SIGHTS))
      phases.forEach((name, at) => {
        const [next, second] = [phases[(at + 1) % TONES]!, phases[(at + 2) % TONES]!];
        expect(distance(of(name), of(next), matrix), `${sight}: ${name}, ${next}`).toBeGreaterThan(20);
        expect(distance(of(name), of(second), matrix), `${sight}: ${name}, ${second}`).toBeGreaterThan(12);
      });
  });
});
