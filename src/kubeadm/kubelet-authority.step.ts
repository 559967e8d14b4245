import { refuseMixed } from '../cluster/api-versions.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { script } from '../templates.ts';
import { KUBELET_AUTHORITY } from './kubelet-serving.value.ts';
import { settingsPreview, settingsRestarts } from './settings-preview.step.ts';
import { noteBegin, once, rewriteAll, rewritten } from './settings.step.ts';
import { isAuthorityAhead } from './settings.ts';

/** @throws Refused for nodes whose kubelets kbuild does not manage: API servers could not connect to them any more */
function refuseStrangers(inventory: Inventory, { nodes }: ClusterUp): void {
  const unnamed = nodes.filter(({ name }) => !inventory.hosts.some((host) => host.name === name));
  if (unnamed.length === 0) return;
  const names = unnamed.map(({ name }) => name).join(', ');
  throw new Refused(
    'unnamed-node',
    inventory.name,
    `${names}: not in the inventory; API servers that verify kubelets' certificates could not read the logs of ` +
      'pods there',
    `add the nodes to the inventory, or remove \`serverTLSBootstrap\` from a role of it until they are gone`,
  );
}

/** True if kbuild has observed every node's host: only then does it know the certificates of all kubelets. */
const areAllHere = (inventory: Inventory, { nodes }: ClusterUp, { unreachable }: Fleet): boolean =>
  !unreachable.some(({ host }) => nodes.some(({ name }) => name === host.name)) &&
  nodes.every(({ name }) => inventory.hosts.some((host) => host.name === name));

/**
 * Configures the API servers, one after another, to verify the certificates of kubelets. Waits until every kubelet
 * serves with a certificate of the cluster, those of absent hosts too: otherwise the logs of their pods could not be
 * read.
 */
export const kubeletAuthority: Step<'cluster'> = {
  name: 'kubelet-authority',
  settleMs: 5 * 60_000,
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up' || !isAuthorityAhead(inventory, facts)) return [];
    refuseStrangers(inventory, facts);
    if (!areAllHere(inventory, facts, fleet)) return [];
    refuseMixed(inventory.name, facts, `the flag --${KUBELET_AUTHORITY.name}`);
    const work = rewritten(inventory, facts, ['cluster']);
    return [
      {
        summary: `have API servers verify the certificates of kubelets (found no --${KUBELET_AUTHORITY.name})`,
        disrupts: true,
        restarts: settingsRestarts(inventory, facts, ['cluster'], work.acting),
        preview: () => Promise.resolve(settingsPreview(inventory, facts, ['cluster'])),
        apply: async (on) => {
          const nodes = inventory.hosts.filter(({ name }) => facts.nodes.some((node) => node.name === name));
          await on(acting(fleet)).run(
            script('kubeadm/kubelets-served.sh', {
              KUBELETS: nodes.map(({ name, internalAddress }) => `${name} ${internalAddress}`),
            }),
          );
          const begin = once(() => noteBegin({ inventory, fleet }, [KUBELET_AUTHORITY.name], on));
          await rewriteAll({ inventory, fleet }, work, on, begin);
        },
      },
    ];
  },
};
