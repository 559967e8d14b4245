import { selects } from '../inventory/hosts.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { withRun } from '../session/with-run.ts';
import type { FactsOptions } from './status.command.ts';

/** Facts as JSON: maps and sets become objects and lists, a fact that could not be read its reason. */
function plain(value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries([...(value as Map<string, unknown>)].map(([key, entry]) => [key, plain(entry)]));
  if (value instanceof Set) return [...(value as Set<unknown>)].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.keys(value).map((key): [string, unknown] => {
    try {
      return [key, plain((value as Record<string, unknown>)[key])];
    } catch (error) {
      return [key, { unknown: (error as Error).message }];
    }
  });
  return Object.fromEntries(entries);
}

/** The fields of an object as JSON. */
const fieldsOf = (value: object): Readonly<Record<string, unknown>> =>
  plain(value) as Readonly<Record<string, unknown>>;

/** `kbuild facts`: what was observed, as JSON. Reads only. */
export const runFacts = (outer: Context, given: FactsOptions): Promise<number> =>
  withRun(outer, given, { command: 'facts', json: 'document' }, ({ connected, context, inventory, flags }) => {
    const fleet = connected.observations.fleet();
    const hosts = fleet.hosts
      .filter(({ host }) => selects(flags.hosts, host.name))
      .map(({ host, facts }) => [host.name, fieldsOf(facts)] as const);
    const unreachable = fleet.unreachable.map(({ host, error }) => [host.name, error.message] as const);
    context.out(
      jsonDocument<'facts'>({
        cluster: inventory.name,
        hosts: Object.fromEntries(hosts),
        unreachable: Object.fromEntries(unreachable),
        view: fieldsOf(fleet.cluster),
      }),
    );
    return Promise.resolve(unreachable.length > 0 ? 3 : 0);
  });
