import type { Fleet } from '../cluster/fleet/fleet.ts';
import { type Reason, reason, type Seen } from '../cluster/reasons.ts';
import { Refused } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';

/** True for a host that serves a cluster: a node of it, or one that is no node by its role. */
export const isPart = ({ cluster }: Fleet, { name, role }: Host): boolean =>
  role === 'etcd' ||
  role === 'load-balancer' ||
  (cluster.state === 'up' && cluster.nodes.some((node) => node.name === name));

/** Hosts that the operator names to `reboot`. */
interface Rebooting extends Seen {
  readonly operands: readonly string[];
}

const named = ({ inventory, operands }: Rebooting): readonly Host[] =>
  inventory.hosts.filter(({ name }) => operands.includes(name));

/** What `reboot` refuses about the hosts that the operator names, besides what `up` refuses. */
export const rebootReasons: readonly Reason<Rebooting>[] = [
  reason(['windows-reboot'], (seen) =>
    named(seen)
      .filter(({ os }) => os === 'windows')
      .map(
        ({ name }) =>
          new Refused(
            'windows-reboot',
            name,
            'kbuild does not reboot Windows hosts',
            'drain it and restart it yourself',
          ),
      ),
  ),
  reason(['not-joined'], (seen) =>
    named(seen)
      .filter((host) => host.os !== 'windows' && !isPart(seen.fleet, host))
      .map(({ name }) => new Refused('not-joined', name, 'it is no node of the cluster', 'join it first: `kbuild up`')),
  ),
];
