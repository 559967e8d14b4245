import type { ClientHttp2Session } from 'node:http2';
import { administratorOn, METADATA_OF_ONE, METADATA_ONLY } from '../cluster/fleet/channel.ts';
import { apiServerAt } from '../cluster/fleet/places.ts';
import { type ClientIdentity, type Forward, httpsPeer, type HttpsPeer } from '../cluster/fleet/https-peer.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Run } from '../session/run.ts';
import { objectOf, textIn, within } from '../shell/decode.ts';
import { isWindowsRemote } from '../ssh/windows.ts';

/** What is watched: the nodes, and the pods that a cluster needs. */
const WATCHED = ['/api/v1/nodes', '/api/v1/namespaces/kube-system/pods'] as const;

/** After this time a watch that has ended is begun again, in ms. */
const AGAIN_MS = 10_000;

/** Tells when something of the cluster changes, by one connection. */
export interface ApiWatch {
  /** True while all watches go on. */
  readonly isOpen: () => boolean;
  /** True if something has changed since it was asked last, or may have, because the watches have begun or ended. */
  readonly hasChanged: () => boolean;
  /** Begins the watches, if they do not go on. Never rejects: where they cannot be begun, they are not open. */
  readonly begin: () => Promise<void>;
  readonly close: () => void;
}

/** Watches one list from now on, until it ends; settles when the server has taken the request. */
async function watched(
  peer: HttpsPeer,
  session: ClientHttp2Session,
  path: string,
  onPart: () => void,
  onEnd: () => void,
) {
  const { status, body } = await peer.request(`${path}?limit=1`, { accept: METADATA_ONLY });
  if (status !== 200) throw new Error(`${path}: ${String(status)}`);
  const version = encodeURIComponent(textIn(within(objectOf(JSON.parse(body)), 'metadata')['resourceVersion']));
  const stream = session.request({ ':path': `${path}?watch=true&resourceVersion=${version}`, accept: METADATA_OF_ONE });
  await new Promise<void>((resolve, reject) => {
    stream.once('response', (headers) => {
      if (headers[':status'] === 200) resolve();
      else reject(new Error(`${path}: ${String(headers[':status'])}`));
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error(`${path}: the watch was not begun`)));
  });
  stream.on('error', () => undefined);
  stream.on('data', onPart);
  stream.once('close', onEnd);
}

/** An API server behind a host, and who asks it. */
interface Behind {
  readonly forward: Forward;
  readonly server: { readonly host: string; readonly port: number };
  readonly identity: ClientIdentity;
}

/** `behind`: where the API is asked now. Rejects where it is not known. */
export function apiWatch(behind: () => Promise<Behind>, nowMs: () => number): ApiWatch {
  let peer: HttpsPeer | undefined;
  let triedMs = -Infinity;
  let isOpen = false;
  let isChanged = false;
  const close = (): void => {
    isOpen = false;
    peer?.close();
    peer = undefined;
  };
  return {
    isOpen: () => isOpen,
    hasChanged: () => {
      const was = isChanged;
      isChanged = false;
      return was;
    },
    begin: async () => {
      if (peer !== undefined || nowMs() - triedMs < AGAIN_MS) return;
      triedMs = nowMs();
      try {
        const { forward, server, identity } = await behind();
        const mine = httpsPeer(forward, server, Promise.resolve(identity));
        peer = mine;
        const session = await mine.connected();
        const changed = (): void => void (isChanged = true);
        const ended = (): void => {
          if (peer !== mine) return;
          changed();
          close();
        };
        await Promise.all(WATCHED.map((path) => watched(mine, session, path, changed, ended)));
        isOpen = peer === mine;
        // What happened before was not told.
        changed();
      } catch {
        close();
      }
    },
    close,
  };
}

/** The same for the control plane through which a run observes its cluster. */
export const apiWatchOf = ({ connected, context, inventory }: Run): ApiWatch =>
  apiWatch(async () => {
    const { cluster } = connected.observations.fleet();
    const via = cluster.state === 'up' && cluster.detour === undefined ? cluster.via : undefined;
    const host = controlPlanes(inventory).find(({ name }) => name === via);
    const remote = connected.remotes.find((one) => one.host.name === via);
    if (host === undefined || remote === undefined || isWindowsRemote(remote)) throw new Error('no API through SSH');
    const forward: Forward = (address, port) => remote.forward(address, port);
    return { forward, server: apiServerAt(inventory, host), identity: await administratorOn(remote) };
  }, context.nowMs);
