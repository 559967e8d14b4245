import { script } from '../../templates.ts';
import { lines, probe } from '../../shell/probe.ts';

/** A route of the main table. */
export interface Route {
  /** CIDR or address; `default`. */
  readonly destination: string;
  /** Empty for a route that leads nowhere (`blackhole`). */
  readonly device: string;
}

/** How packets to an address leave the host. */
export interface PathTo {
  readonly device: string;
  /** The address that the other end sees. */
  readonly source: string;
}

/** Routes (IPv4), and the ways to the given addresses; an address that is missing there cannot be reached. */
export const routes = (addresses: readonly string[]) =>
  probe(
    script('linux/probe-routes.sh', { ADDRESSES: addresses }),
    (out): { readonly table: readonly Route[]; readonly to: ReadonlyMap<string, PathTo> } => {
      const [shown = '', got = ''] = out.split('---\n');
      const word = (line: string, name: string): string => new RegExp(`\\b${name} (\\S+)`).exec(line)?.[1] ?? '';
      const table = lines(shown).map((line) => {
        const [first = '', second = ''] = line.trim().split(/\s+/);
        const typed = /^(?:unicast|blackhole|unreachable|prohibit|throw)$/.test(first);
        return { destination: typed ? second : first, device: word(line, 'dev') };
      });
      const to = lines(got).flatMap((line) => {
        const address = /^(?:local |broadcast )?(\d+\.\d+\.\d+\.\d+)\b/.exec(line)?.[1];
        return address === undefined
          ? []
          : [[address, { device: word(line, 'dev'), source: word(line, 'src') }] as const];
      });
      return { table, to: new Map(to) };
    },
  );
