import { withoutEnd } from '../shell/text.ts';
/** The first and the last line of what kbuild writes into the Corefile. All else there is kubeadm's and the operator's. */
const BEGIN = '# Begin of dns.blocks. kbuild writes what follows: edit the inventory.';
const END = '# End of dns.blocks.';

/** A Corefile in its parts. */
export interface CorefileParts {
  /** Everything but kbuild's part. */
  readonly rest: string;
  /** kbuild's part with its first and last line; empty if there is none. */
  readonly own: string;
}

/** Splits a Corefile. `broken` if it has only one of the two lines between which kbuild writes: it may end anywhere. */
export function corefileParts(corefile: string): CorefileParts | 'broken' {
  const lines = corefile.split('\n');
  const [begin, end] = [lines.indexOf(BEGIN), lines.indexOf(END)];
  if (begin === -1 && end === -1) return { rest: corefile, own: '' };
  if (begin === -1 || end < begin || lines.indexOf(BEGIN, begin + 1) !== -1) return 'broken';
  return {
    rest: [...lines.slice(0, begin), ...lines.slice(end + 1)].join('\n'),
    own: lines.slice(begin, end + 1).join('\n'),
  };
}

/** kbuild's part for these server blocks (zone → lines); empty if there are none. */
export function ownBlocks(blocks: Readonly<Record<string, string>>): string {
  const names = Object.keys(blocks).sort();
  if (names.length === 0) return '';
  const block = (name: string): string => {
    const lines = withoutEnd(blocks[name]!, '\n').split('\n');
    return [`${name} {`, ...lines.map((line) => (line.trim() === '' ? '' : `    ${line.trimEnd()}`)), '}'].join('\n');
  };
  return [BEGIN, ...names.map(block), END].join('\n');
}

/** The Corefile with kbuild's part behind the rest. */
export const corefileWith = (rest: string, own: string): string =>
  own === '' ? rest : `${withoutEnd(rest, '\n')}\n${own}\n`;

/** A zone as CoreDNS compares it: without the protocol of DNS, the last dot and the port 53. */
const plainZone = (zone: string): string =>
  zone
    .toLowerCase()
    .replace(/^dns:\/\//, '')
    .replace(/:53$/, '')
    .replace(/\.$/, '');

/** The zones of the server blocks of a Corefile, as `plainZone` spells them. */
export function zonesOf(corefile: string): ReadonlySet<string> {
  const zones = new Set<string>();
  let depth = 0;
  for (const line of corefile.split('\n')) {
    for (const word of line.replace(/(?:^|\s)#.*$/, '').split(/\s+/)) {
      if (word === '}') depth -= 1;
      else if (word === '{') depth += 1;
      else if (depth === 0 && word !== '') for (const zone of word.split(',')) zones.add(plainZone(zone));
    }
  }
  return zones;
}

/** Those of the zones that the rest of the Corefile already has: CoreDNS does not start with a zone that two blocks have. */
export function takenZones(rest: string, blocks: Readonly<Record<string, string>>): readonly string[] {
  const taken = zonesOf(rest);
  return Object.keys(blocks).filter((zone) => taken.has(plainZone(zone)));
}
