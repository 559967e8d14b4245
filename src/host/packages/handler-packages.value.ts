import type { HandlerKind } from '../../inventory/runtime-handlers.ts';
import { type HandlerPackage, HANDLERS } from '../../runtime/handlers.value.ts';
import { knownDistribution } from './distributions.value.ts';
import { getsBinaries } from './installer.value.ts';

/**
 * The package by which kbuild brings the program of a handler to a host; undefined if there is none for the host's
 * system.
 */
export function handlerPackage(
  target: Parameters<typeof getsBinaries>[0],
  kind: HandlerKind,
): HandlerPackage | undefined {
  const { packaged } = HANDLERS[kind];
  const packages = knownDistribution(target.facts)?.packages;
  if (packaged === undefined || packages === undefined || getsBinaries(target)) return undefined;
  return packages.pick(packaged.repository).url === '' ? undefined : packaged;
}
