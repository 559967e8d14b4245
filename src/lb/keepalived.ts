import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { balancers } from '../topology/select.ts';
import { paths } from '../paths.ts';
import { file } from '../resources/file.ts';
import { service } from '../resources/service.ts';
import { sh } from '../shell/sh.ts';
import { render } from '../templates.ts';
import { keepalivedOf } from './keepalived-of.ts';

/** VRRP priority of the first balancer; each further one is one less. 1 to 254 are allowed. */
const FIRST_PRIORITY = 200;

/** What a failed check takes off the priority: more than the first and the last balancer differ. */
const WEIGHT = 100;

/** The interface that holds the host's internal address. @throws Refused when none does. */
function interfaceOf({ host, facts }: Target): string {
  const found = facts.interfaces.find(({ addresses }) => addresses.includes(host.internalAddress));
  if (found === undefined)
    throw new Refused(
      host.name,
      `none of its interfaces has the address ${host.internalAddress}, so the virtual address has no place there`,
      'set internalAddress to an address of one of its interfaces',
    );
  return found.name;
}

/**
 * keepalived.conf of one balancer. VRRP goes to the named peers: many networks carry no multicast. A balancer without peers
 * has no setting of unicast: keepalived refuses one that names no peer.
 */
export function keepalivedConfig(target: Target): string {
  const { inventory, host } = target;
  const { address, routerId } = keepalivedOf(inventory);
  const all = balancers(inventory);
  return render('keepalived.conf', {
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
    address,
  });
}

const script = file('check-apiserver', {
  path: paths.checkApiserver,
  content: ({ inventory }) => render('check-apiserver', { healthPort: keepalivedOf(inventory).healthPort }),
  mode: 0o755,
});

const config = file('keepalived-config', {
  path: paths.keepalivedConfig,
  content: keepalivedConfig,
  validate: (path) => sh`keepalived --config-test --use-file ${path}`,
  backup: paths.keepalivedConfigBackup,
});

/** keepalived: the virtual address is on one balancer, and moves within 5 s when its host or its haproxy dies. */
export const keepalived: readonly Step[] = [
  script,
  config,
  service('keepalived', { uses: [paths.keepalivedConfig], after: [config], on: 'reload' }),
];
