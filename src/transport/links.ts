import { ConnectError } from '../errors.ts';
import type { Link } from './link.ts';

/** The connections to one host, one after another. */
interface Links {
  /** The current connection; another one when that was lost. @throws ConnectError */
  readonly connected: () => Promise<Link>;
  /** How many were made. */
  readonly count: () => number;
  /** The connection that was made last. */
  readonly last: () => Link;
  /** What starts from now on gets a new connection; what runs keeps its own. */
  readonly renew: () => void;
  readonly close: () => Promise<void>;
}

/** Connections that `dial` makes: the first at once, another whenever the one before was lost. @throws ConnectError */
export async function linksOf(name: string, dial: () => Promise<Link>): Promise<Links> {
  let count = 0;
  let closed = false;
  let last: Link;
  const dialed = async (): Promise<Link> => {
    last = await dial();
    count++;
    return last;
  };
  let current = dialed();
  await current;
  /** Connections that were renewed while something ran on them. */
  const older = new Set<Link>();
  const become = (next: Promise<Link>): Promise<Link> => {
    // What fails here fails again for each caller that waits for it.
    next.catch(() => undefined);
    return (current = next);
  };
  const refuseClosed = (): void => {
    if (closed) throw new ConnectError(name, 'the connection was closed', { retryable: false });
  };

  const connected = async (): Promise<Link> => {
    const awaited = current;
    const link = await awaited.catch(() => undefined);
    refuseClosed();
    if (link !== undefined && !link.isLost()) return link;
    // The first caller that notices dials; the others find its attempt here.
    return current === awaited ? become(dialed()) : connected();
  };
  const renewed = async (awaited: Promise<Link>): Promise<Link> => {
    const link = await awaited.catch(() => undefined);
    refuseClosed();
    if (link !== undefined && !link.isLost()) older.add(link);
    return dialed();
  };
  return {
    connected,
    count: () => count,
    last: () => last,
    renew: () => void become(renewed(current)),
    async close() {
      if (closed) return;
      closed = true;
      // Nothing runs on them any more: a goodbye would cost a round trip for each run.
      for (const link of older) link.destroy();
      const link = await current.catch(() => undefined);
      if (link !== undefined && !link.isLost()) link.destroy();
    },
  };
}
