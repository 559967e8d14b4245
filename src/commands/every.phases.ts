import type { Fleet, Kind } from '../cluster/fleet/fleet.ts';
import { STANDING_WATCHES } from '../cluster/standing.ts';
import { type Phase, type Step, watchesOf } from '../engine/step.ts';
import { controlPlanes, inventoryOn, linuxHosts, withRole } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { united, type Watched, type Watches } from '../shell/watched.ts';
import { supportedMinors } from '../versions.ts';
import { renewAuthorityPhases } from './certs.phases.ts';
import { hostChecks, windowsChecks } from './every.checks.ts';
import { reboot } from './reboot.phases.ts';
import { remove, reset } from './remove.phases.ts';
import { restorePhases } from './restore.phases.ts';
import { up } from './up.phases.ts';
import { upgrade } from './upgrade.phases.ts';

/** The workers of an upgrade follow from what runs; each step of theirs is one of a control plane, too. */
const NO_FLEET: Fleet = { hosts: [], unreachable: [], cluster: { state: 'absent' } };

/** Every phase that a command may run with this inventory, each with all its possible hosts. */
export function everyPhase(inventory: Inventory): readonly Phase[] {
  const leaving = inventory.hosts.map((host) => ({ ...host, host }));
  const controls = controlPlanes(inventory);
  return [
    ...up(inventory),
    ...remove(inventory, { leaving, drain: 'no', before: () => Promise.resolve() }),
    ...reset(inventory, {}),
    ...upgrade(inventory, NO_FLEET, {
      hops: supportedMinors.map((minor) => ({ from: `${minor}.0`, version: `${minor}.0` })),
      keep: () => Promise.resolve(),
      drain: 'no',
      losesPods: false,
      atOnce: 1,
    }),
    ...reboot(
      inventory,
      { hosts: linuxHosts(inventory), from: new Map() },
      { drain: 'no', losesPods: false, atOnce: 1 },
    ),
    ...renewAuthorityPhases(inventory, new Map([['ca', new Set()]]), () => Promise.resolve()),
    ...restorePhases({
      inventory,
      controls,
      members: inventory.etcd.topology === 'stacked' ? controls : withRole(inventory, 'etcd'),
      snapshot: '',
      id: '',
    }),
  ];
}

/**
 * The files, packages and units that the probes of each host read: all that checks and steps of any command watch
 * there. So one observation of a host serves every command.
 */
export function watchedOn(inventory: Inventory): (host: Host) => Watched {
  const always = ({ os }: Host): readonly Watches[] => [
    STANDING_WATCHES,
    ...(os === 'windows' ? windowsChecks : hostChecks).map(({ watches = {} }) => watches),
  ];
  const declared = new Map<string, { readonly of: Set<unknown>; readonly all: Set<Watches> }>();
  for (const { hosts, steps } of everyPhase(inventory))
    for (const host of hosts) {
      const { of, all } = declared.get(host.name) ?? { of: new Set(), all: new Set(always(host)) };
      declared.set(host.name, { of, all });
      for (const step of steps as readonly Step<Kind>[]) {
        // Most steps stand in several commands, and say the same in each.
        if (of.has(step.watches)) continue;
        of.add(step.watches);
        all.add(watchesOf(step, { inventory: inventoryOn(inventory, host), host }));
      }
    }
  const watched = new Map([...declared].map(([name, { all }]) => [name, united(all)] as const));
  return (host) => watched.get(host.name) ?? united(always(host));
}
