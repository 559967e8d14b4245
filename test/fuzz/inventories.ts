import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { InventoryError } from '../../src/errors.ts';
import { visible } from '../../src/report/text.ts';
import { load } from '../inventory/load.ts';
import { fuzz, type Fuzzed, type Random } from './random.ts';

const folder = new URL('../../inventories/', import.meta.url);
const bases = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .sort()
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));

/** Values that stand where another was. */
const JUNK: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, '', 'x', ' ', '\n', '\0', '\u202e', '😀', Infinity, NaN, 2 ** 53],
  ...[
    '../../etc/passwd',
    '/',
    '//',
    '/etc/../etc/x',
    '{{name}}',
    '${x}',
    '$(id)',
    "';id;'",
    '.',
    '..',
    '-',
    '-1',
    'NaN',
  ],
  ...['__proto__', 'constructor', 'toString', 'a'.repeat(70_000), 'é'.repeat(300), 'A'.repeat(64), 'host name', 'xn--'],
  ...[[], [[]], [null], [[[[[[]]]]]], {}, { a: 1 }, { constructor: 1 }, { toString: null }, ['x', 1, null, {}]],
  ...['999999999999999999999999', '1.36.3', '1.999999999999.0', '99.99.99', '0.0.0.0', '::', '0.0.0.0/0', '::/0'],
  ...['10.0.0.0/33', '1.2.3.4.5', '2001:db8::1%eth0', 'file:', 'env:', 'command:', 'file:/dev/zero', '/dev/zero'],
  ...['https://', 'https://[', 'http://x', 'https://u:p@x', 'sha256:', '1y', '-5m', '1e3h', 'PT1H', '*a*a*a*a*a*a*a*b'],
];

const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', ' ', '<<', '0', 'length', 'then', '\u202e'];

interface Place {
  readonly in: Record<string, unknown>;
  readonly key: string;
}

/** Every place of a document. */
const placesOf = (value: unknown): readonly Place[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key) => {
        const holder = value as Record<string, unknown>;
        return [{ in: holder, key }, ...placesOf(holder[key])];
      });

const setKey = (holder: object, key: string, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });

/** Changes of the document. */
const TREES: readonly ((document: unknown, random: Random) => void)[] = [
  (document, { pick, below }) => {
    for (let i = below(3); i >= 0; i--) {
      const { in: holder, key } = pick(placesOf(document));
      holder[key] = structuredClone(pick(JUNK));
    }
  },
  (document, { pick }) => {
    const [from, to] = [pick(placesOf(document)), pick(placesOf(document))];
    to.in[to.key] = structuredClone(from.in[from.key]);
  },
  (document, { pick }) => {
    const { in: holder, key } = pick(placesOf(document));
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else Reflect.deleteProperty(holder, key);
  },
  (document, { pick }) => {
    const maps = placesOf(document)
      .map(({ in: holder, key }) => holder[key])
      .filter((one): one is object => typeof one === 'object' && one !== null && !Array.isArray(one));
    setKey(pick([document as object, ...maps]), pick(KEYS), structuredClone(pick(JUNK)));
  },
  (document, { pick }) => {
    const lists = placesOf(document)
      .map(({ in: holder, key }) => holder[key])
      .filter((one): one is unknown[] => Array.isArray(one) && one.length > 0);
    if (lists.length === 0) return;
    const list = pick(lists);
    for (let i = 0; i < 300; i++) list.push(structuredClone(list[0]));
  },
];

const WORDS = [
  '{',
  '}',
  '[',
  ']',
  ':',
  '- ',
  '|',
  '>',
  '"',
  "'",
  '#',
  '&a ',
  '*a',
  '!',
  '%',
  '@',
  '`',
  ',',
  '? ',
  '\t',
];

const inserted = (text: string, { pick, below }: Random): string => {
  const at = below(text.length);
  return text.slice(0, at) + pick(WORDS) + text.slice(at);
};

/** Changes of the text. */
const TEXTS: readonly ((text: string, random: Random) => string | Buffer)[] = [
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll('\n', '\r'),
  (text) => `\ufeff${text}`,
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  (text) => Buffer.from(`${text}\n# \xe9\xff`, 'latin1'),
  (text) => text.replaceAll(': ', ':\t'),
  (text) => `${text.slice(0, 40)}\0${text.slice(40)}`,
  (text) => `${text}\nx: ${'['.repeat(3000)}${']'.repeat(3000)}\n`,
  (text) => `${text}\nx: ${'{a: '.repeat(2000)}1${'}'.repeat(2000)}\n`,
  (text) => `${text}\nx: "${'y'.repeat(100_000)}"\n`,
  (text) => `${text}${'\n#'.repeat(60_000)}`,
  (text) => `${text}\n${Array.from({ length: 5000 }, (_, i) => `k${String(i)}: 1`).join('\n')}`,
  (text) => `${text}${'\nname: a'.repeat(2000)}`,
  (text) => `${text}\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n`,
  (text) => `${text}\nz: *nothing\n`,
  (text) => `${text}\nz: &z [*z]\n`,
  (text) => `${text}\nz: !!js/function "x"\n`,
  (text) => `${text}\n---\n${text}`,
  (text) => `%YAML 9.9\n---\n${text}`,
  (text) => `${text}\n<<: {a: 1}\n`,
  (text) => `${text}\n? [a, b]\n: 1\n`,
  (text) => text.replace(/name: (\w+)/, 'name: "\\e[2J\\u202e$1"'),
  (text) => text.replace(/name: \w+/, 'name: "\\ud800\\udfff\\ud800"'),
  (text) => text.replace(/: (\w+)/, `: ${'9'.repeat(50_000)}`),
  (text, { below }) => text.slice(0, below(text.length)),
  (text, { below }) => {
    const bytes = Buffer.from(text);
    for (let i = 0; i < 6; i++) bytes[below(bytes.length)] = below(256);
    return bytes;
  },
  (text, random) => inserted(inserted(inserted(text, random), random), random),
  (text, { chance }) => text.replaceAll(/^/gm, () => (chance(0.05) ? ' ' : '')),
  (text, { chance }) =>
    text
      .split('\n')
      .flatMap((line) => (chance(0.1) ? [line, line] : [line]))
      .join('\n'),
  () => '',
  () => 'just text',
  () => '- a\n- b\n',
  () => 'null',
];

function mutated(random: Random): string | Buffer {
  const base = random.pick(bases);
  if (random.chance(0.25)) return random.pick(TEXTS)(base, random);
  const document: unknown = parse(base);
  random.pick(TREES)(document, random);
  return stringify(document, { aliasDuplicateObjects: false });
}

/** A problem names its file and its place; those of a whole text have none. */
const PLACE = /^inventory\.yaml(?::\d+:\d+)?$/;

/** Inventories that were changed at random: each is good, or every problem has a place, and nothing crashes. */
export const fuzzInventories = (runs: number, seed: number): Promise<Fuzzed> =>
  fuzz(runs, seed, async (random, report) => {
    try {
      await load(mutated(random));
      return 'good';
    } catch (error) {
      if (!(error instanceof InventoryError)) throw error;
      for (const { at, path, message } of error.problems) {
        if (!PLACE.test(at)) report(`no place: ${at}`);
        const shown = visible(`${at}: ${path}: ${message}`);
        if (/[\0-\u0008\u000b-\u001f\u007f-\u009f\u202e]/.test(shown)) report(`a control character: ${shown}`);
      }
      return 'refused';
    }
  });
