import type { Host, LinuxHost } from '../inventory/inventory.ts';
import type { Remote } from '../remote/remote.ts';

/** What a survey needs of a host that is connected. */
export type Surveyor = (host: LinuxHost) => Pick<Remote<'sh'>, 'run' | 'hold' | 'write'>;

/** What was measured on a host; why it could not be; why it was left alone. */
export type Surveyed<T> = { readonly host: Host } & (
  { readonly found: T } | { readonly failed: string } | { readonly skipped: string }
);

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
        return { host, failed: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
