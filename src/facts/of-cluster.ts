import { FactError, KbuildError } from '../errors.ts';
import { excerpt } from '../shell/text.ts';

/**
 * What `read` makes of an object of the cluster that was observed before, by the functions of `shell/decode.ts`.
 * @throws FactError of the control plane that sent it, if it has another form: it is neither the one nor the other
 */
export function ofCluster<T>({ via }: { readonly via: string }, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof KbuildError) throw error;
    throw new FactError(via, what, excerpt(error instanceof Error ? error.message : String(error)));
  }
}
