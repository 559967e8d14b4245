import { where } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { file } from '../host/file.step.ts';
import { service } from '../host/service.step.ts';
import type { KeepalivedBalancer } from '../inventory/control-plane.ts';
import { asCidr } from '../inventory/addresses.ts';
import { balancers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { render } from '../templates.ts';

/** The load balancer of an inventory with hosts of role load-balancer. Throws a plain `Error` (a bug) for any other. */
export function keepalivedOf({ loadBalancer }: Inventory): KeepalivedBalancer {
  if (loadBalancer.kind !== 'keepalived') throw new Error(`no balancer is built with kind ${loadBalancer.kind}`);
  return loadBalancer;
}

/** VRRP priority (1 to 254) of the first load balancer. Each further one has one less. */
const FIRST_PRIORITY = 200;

/** A failed check subtracts this from the priority. It exceeds the difference between any two load balancers. */
const WEIGHT = 100;

/** The interface with the host's internal address. @throws Refused if no interface has it */
function interfaceOf({ host, facts }: Target): string {
  const found = facts.interfaces.find(({ addresses }) => addresses.includes(host.internalAddress));
  if (found === undefined)
    throw new Refused(
      'no-interface-address',
      host.name,
      `none of its interfaces has the address ${host.internalAddress}, so the virtual address has no place there`,
      'set internalAddress to an address of one of its interfaces',
    );
  return found.name;
}

/**
 * keepalived.conf of one load balancer. VRRP is sent to the named peers, because many networks block multicast. A load
 * balancer without peers has no unicast settings: keepalived refuses them without a peer.
 */
export function keepalivedConfig(target: Target): string {
  const { inventory, host } = target;
  const { address, routerId } = keepalivedOf(inventory);
  const all = balancers(inventory);
  return render('balancer/keepalived.conf', {
    cluster: inventory.name,
    host: host.name,
    instance: inventory.name,
    script: paths.checkApiserver,
    weight: WEIGHT,
    interface: interfaceOf(target),
    routerId,
    priority: FIRST_PRIORITY - all.findIndex(({ name }) => name === host.name),
    source: host.internalAddress,
    peers: all.filter(({ name }) => name !== host.name).map(({ internalAddress }) => internalAddress),
    address: asCidr(address),
  });
}

const script = file('check-apiserver', {
  path: paths.checkApiserver,
  content: ({ inventory }) => render('balancer/check-apiserver', { healthPort: keepalivedOf(inventory).healthPort }),
  mode: 0o755,
});

const config = file('keepalived-config', {
  path: paths.keepalivedConfig,
  content: keepalivedConfig,
  validate: (path) => sh`keepalived --config-test --use-file ${path}`,
  backup: paths.keepalivedConfigBackup,
});

/** Runs keepalived: the virtual address moves to another load balancer within 5 s when its host or HAProxy fails. */
export const keepalived: readonly Step[] = [
  script,
  config,
  service('keepalived', { uses: [paths.keepalivedConfig], after: [config], on: 'reload' }),
].map((step) => where(({ inventory }) => inventory.loadBalancer.kind === 'keepalived', step));
