import { anotherSigner } from '../certificates/authority.refusal.ts';
import { duringRotation } from '../certificates/rotation.refusal.ts';
import { apiVersionsText, isMixed } from '../cluster/api-versions.ts';
import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { noCluster } from '../cluster/live.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { joinedNodes } from './endpoint.ts';
import { changedFixedSettings } from './fixed-settings.ts';

/** Nodes whose kubelets kbuild cannot lead to another endpoint: they would be cut off when the old one goes. */
function outOfReach(inventory: Inventory, { nodes }: ClusterUp): readonly Refused[] {
  const windows = new Set(windowsHosts(inventory).map(({ name }) => name));
  const named = new Set(inventory.hosts.map(({ name }) => name));
  return nodes.flatMap(({ name }): readonly Refused[] => {
    if (windows.has(name))
      return [
        new Refused(
          'windows-node-cut-off',
          name,
          'kbuild cannot lead a Windows node to another endpoint yet, and the node would be cut off when the old one goes',
          `take the node out of the cluster (\`kbuild remove ${name}\`), and join it again afterwards`,
        ),
      ];
    if (named.has(name)) return [];
    return [
      new Refused(
        'unnamed-node',
        name,
        'the inventory does not name this node of the cluster, which would be cut off when the old endpoint goes',
        `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
      ),
    ];
  });
}

/** Hosts to which another cluster answers at the new endpoint. */
function ofAnotherCluster(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const met = joinedNodes(inventory, fleet).flatMap(({ host, facts: { newEndpoint } }) =>
    newEndpoint !== 'not asked' && newEndpoint.whose === 'other' ? [{ host, answer: newEndpoint.answer }] : [],
  );
  if (met.length === 0) return [];
  return [
    new Refused(
      'endpoint-of-other-cluster',
      met.map(({ host }) => host.name).join(', '),
      `${inventory.endpoint} does not serve this cluster: its certificate is of another CA (${met[0]!.answer})`,
      'name an endpoint that leads to the control planes of this cluster, and nowhere else',
    ),
  ];
}

/** A machine that is no host of the inventory has the virtual address. */
function addressTaken(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const { loadBalancer } = inventory;
  if (!('address' in loadBalancer)) return [];
  const { address } = loadBalancer;
  const isOurs = observedLinux(fleet).some(({ facts }) =>
    facts.interfaces.some(({ addresses }) => addresses.includes(address)),
  );
  const seenBy = joinedNodes(inventory, fleet).filter(
    ({ facts: { newEndpoint } }) => newEndpoint !== 'not asked' && newEndpoint.isHeld && newEndpoint.whose !== 'ours',
  );
  if (isOurs || seenBy.length === 0) return [];
  return [
    new Refused(
      'address-taken',
      seenBy.map(({ host }) => host.name).join(', '),
      `another machine has the virtual address ${address}`,
      'choose a free address for loadBalancer.address',
    ),
  ];
}

/**
 * Why the cluster may not be led to the inventory's endpoint now, all reasons at once; empty if it may. Those of `changeRefusals`, and
 * of hosts that do not answer, come on top. Throws `FactError` when a fact that it needs is unknown.
 */
export function moveRefusals(inventory: Inventory, fleet: Fleet): readonly KbuildError[] {
  const { cluster } = fleet;
  if (cluster.state === 'absent')
    return [
      noCluster(fleet, new Refused('no-cluster', inventory.name, 'there is no cluster yet', 'build it: `kbuild up`')),
    ];
  if (cluster.state === 'down')
    return [
      new Refused(
        'cluster-down',
        inventory.name,
        `the cluster does not answer: ${cluster.reason}`,
        'bring it back first: `kbuild status` shows what is down',
      ),
    ];
  return [
    ...unfinishedActions(fleet, 'move-endpoint'),
    ...(isMixed(cluster)
      ? [
          new Refused(
            'upgrade-unfinished',
            inventory.name,
            `an upgrade is half done (${apiVersionsText(cluster)})`,
            'finish it first: `kbuild upgrade`',
          ),
        ]
      : []),
    ...duringRotation(inventory, fleet, 'the endpoint cannot move'),
    ...anotherSigner(inventory, fleet),
    ...changedFixedSettings(inventory, cluster.configuration)
      .filter(({ setting }) => setting !== 'endpoint')
      .map(
        ({ setting, wanted, live }) =>
          new Refused(
            'fixed-setting',
            inventory.name,
            `${setting} is ${wanted}, the cluster was made with ${live === '' ? 'none' : live}, and Kubernetes cannot change it`,
            `set ${setting} back${live === '' ? '' : ` to ${live}`}`,
          ),
      ),
    ...outOfReach(inventory, cluster),
    ...ofAnotherCluster(inventory, fleet),
    ...addressTaken(inventory, fleet),
  ];
}
