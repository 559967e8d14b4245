import { CommandError } from '../errors.ts';
import type { Host, LinuxHost } from '../inventory/inventory.ts';
import type { Remote } from '../ssh/remote.ts';

/** The part of a connected host that a survey needs. */
export type Surveyor = (host: LinuxHost) => Pick<Remote<'sh'>, 'run' | 'hold'>;

/** The measurement of a host, or why it failed or was skipped. */
export type Surveyed<T> = { readonly host: Host } & (
  { readonly found: T } | { readonly failed: string } | { readonly skipped: string }
);

/** Why a measurement failed, in one line, without the output of the survey. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof CommandError)) return error instanceof Error ? error.message.split('\n')[0]! : String(error);
  if (error.status === 'lost') return 'the connection was lost meanwhile';
  const last = error.stderr.trim().split('\n').at(-1)!;
  return `${error.command} ended with status ${String(error.status)}${last === '' ? '' : `: ${last}`}`;
}

/** Measures on all hosts at once; a host that fails does not stop the others. */
export const onEach = <T>(
  hosts: readonly LinuxHost[],
  measure: (host: LinuxHost) => Promise<T>,
): Promise<readonly Surveyed<T>[]> =>
  Promise.all(
    hosts.map(async (host): Promise<Surveyed<T>> => {
      try {
        return { host, found: await measure(host) };
      } catch (error) {
        return { host, failed: reasonOf(error) };
      }
    }),
  );
