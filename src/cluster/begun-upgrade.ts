import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Marker, UPGRADE } from '../kubeadm/marker.facts.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';

/**
 * The marker of an upgrade of this cluster that kubeadm did not end on a host; undefined if there is none. `about`: its
 * version.
 */
export const begunUpgrade = (
  { name }: Pick<Inventory, 'name'>,
  { marker }: { readonly marker: Marker | 'absent' | 'unreadable' },
): Marker | undefined =>
  typeof marker === 'object' && marker.action === UPGRADE && marker.cluster === name ? marker : undefined;

/** An upgrade that kubeadm did not end on a control plane. */
export interface BegunUpgrade {
  readonly host: LinuxHost;
  readonly marker: Marker;
  /** Without `v`; `unknown`: an older kbuild noted none. */
  readonly version: string;
}

/** The control planes on which kubeadm did not end an upgrade. */
export const begunUpgrades = (inventory: Inventory, fleet: Fleet): readonly BegunUpgrade[] =>
  observedLinux(fleet).flatMap(({ host, facts }) => {
    const marker = host.role === 'control-plane' ? begunUpgrade(inventory, facts) : undefined;
    return marker === undefined ? [] : [{ host, marker, version: marker.about ?? 'unknown' }];
  });
