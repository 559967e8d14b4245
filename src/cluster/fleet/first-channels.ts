import { loopbackOf } from '../../inventory/addresses.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import type { Forwarded } from '../../ssh/link.ts';
import type { Forward } from './https-peer.ts';
import { apiServerAt, endpointAt, type Place } from './places.ts';

/** Whereto an observation of the cluster through this control plane opens channels first. */
function firstPlaces(inventory: Inventory, host: LinuxHost): readonly Place[] {
  const { internalAddress } = host;
  const etcd = [loopbackOf(internalAddress), internalAddress].map((address) => ({ host: address, port: 2379 }));
  const places = [apiServerAt(inventory, host), endpointAt(inventory)];
  return inventory.etcd.topology === 'stacked' ? [...places, ...etcd] : places;
}

/** Channels of one observation, of which each is used once. */
interface TakenChannels {
  /** The channel that is open already, or else a new one. */
  readonly forward: (host: LinuxHost) => Forward;
  /** Ends the channels that were not used. */
  readonly end: () => void;
}

/** Channels that are opened before it is known that they are needed: to wait for that costs a round trip. */
interface FirstChannels {
  readonly open: (host: LinuxHost) => void;
  /** The channels so far: the next observation opens its own. */
  readonly taken: () => TakenChannels;
}

const endOpen = (forwarded: Forwarded): void => {
  if (forwarded.kind === 'open') forwarded.stream.destroy();
};

/** Opens channels of a control plane to all that an observation of the cluster asks there. */
export function firstChannels(inventory: Inventory, forward: (host: LinuxHost) => Forward): FirstChannels {
  const keyOf = ({ name }: LinuxHost, { host, port }: Place): string => `${name} ${host} ${String(port)}`;
  let opened = new Map<string, Promise<Forwarded>>();
  return {
    open: (host) => {
      for (const place of firstPlaces(inventory, host)) {
        const key = keyOf(host, place);
        if (opened.has(key)) continue;
        const opening = forward(host)(place.host, place.port);
        opening.catch(() => undefined);
        opened.set(key, opening);
      }
    },
    taken: () => {
      const channels = opened;
      opened = new Map();
      return {
        forward: (from) => (host, port) => {
          const key = keyOf(from, { host, port });
          const channel = channels.get(key);
          channels.delete(key);
          return channel ?? forward(from)(host, port);
        },
        end: () => {
          for (const channel of channels.values()) channel.then(endOpen, () => undefined);
        },
      };
    },
  };
}
