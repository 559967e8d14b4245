/** Replaces the names of hosts in a text. */
const HOST = 'HOST';

/** A number that measures something. Texts that differ only in such numbers are grouped. */
const MEASURE = /(?<![\w.:/-])\d+(?:\.\d+)?(?= ?(?:ms|s|min|days?|%|[KMG]i?B|bytes|inodes|CPUs?)(?![\w-]))/g;

/** A text whose measures are `#`, so that those of two runs are the same. */
export const withoutMeasures = (text: string): string => text.replaceAll(MEASURE, '#');

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A text without the name of its host. */
const withoutHost = (text: string, host: string | undefined): string =>
  host === undefined ? text : text.replaceAll(new RegExp(`(?<![\\w.-])${escaped(host)}(?![\\w-]|\\.\\w)`, 'g'), HOST);

/** One text for several that differ at most in measures. A measure that differs becomes `least … greatest`. */
function merged(texts: readonly string[]): string {
  const measures = texts.map((text) => [...text.matchAll(MEASURE)].map(([number]) => number));
  let place = 0;
  return texts[0]!.replaceAll(MEASURE, () => {
    const sorted = measures.map((list) => list[place]!).toSorted((a, b) => Number(a) - Number(b));
    place += 1;
    const [least, greatest] = [sorted[0]!, sorted.at(-1)!];
    return least === greatest ? least : `${least} … ${greatest}`;
  });
}

/** Items of several hosts with the same texts. */
export interface Group<T> {
  readonly items: readonly T[];
  /** In the order of the items, each once; empty for items without a host. */
  readonly hosts: readonly string[];
  /** The texts of the items, merged. With several hosts, `HOST` replaces the names. */
  readonly texts: readonly string[];
}

/** Groups items with the same texts, in the order of their first appearance. `sameKey` must be equal too. */
export function grouped<T extends { readonly host?: string }>(
  items: readonly T[],
  sameKey: (item: T) => string,
  textsOf: (item: T) => readonly string[],
): readonly Group<T>[] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const texts = textsOf(item).map((text) => withoutMeasures(withoutHost(text, item.host)));
    const key = JSON.stringify([sameKey(item), item.host === undefined, ...texts]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].map((group) => {
    const hosts = [...new Set(group.flatMap(({ host }) => host ?? []))];
    const texts = group.map((item) =>
      hosts.length < 2 ? textsOf(item) : textsOf(item).map((text) => withoutHost(text, item.host)),
    );
    return { items: group, hosts, texts: texts[0]!.map((_, at) => merged(texts.map((list) => list[at]!))) };
  });
}
