import type { ClusterUp } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import { objectsOf, ofCluster, textsOf, within } from '../shell/decode.ts';
import { minorNumber, versionIn } from '../versions.ts';
import { cilium } from './cilium.value.ts';
import type { InventoryWith } from './plugin.value.ts';

/** Its agents read it, and so its key is Cilium's own. */
const CONFIG = 'v1/ConfigMap/kube-system/cilium-config';

/** The version in the image of the live agents; undefined where it names none. */
function liveVersion(cluster: ClusterUp): string | undefined {
  const { containers } = within(cluster.objects.get(cilium.agent!.object), 'spec', 'template', 'spec');
  const agent = objectsOf(containers ?? []).find(({ name }) => name === 'cilium-agent');
  return versionIn(typeof agent?.['image'] === 'string' ? agent['image'] : undefined);
}

/**
 * Refuses what Cilium does not support on a live cluster: another division of the pod network, and an upgrade over more
 * than one minor (Documentation/operations/upgrade.rst).
 */
export const ciliumRefusals = (
  { name, network: { cilium: wanted } }: InventoryWith<'cilium'>,
  cluster: ClusterUp,
): readonly Refused<'network-plugin-changed'>[] =>
  ofCluster(cluster, 'Cilium', () => {
    const { ipam = wanted.ipam } = textsOf(within(cluster.objects.get(CONFIG))['data'] ?? {});
    const version = liveVersion(cluster) ?? wanted.version;
    return [
      ...(ipam === wanted.ipam
        ? []
        : [
            new Refused(
              'network-plugin-changed',
              name,
              `network.cilium.ipam is ${wanted.ipam}, the cluster was made with ${ipam}, and its pods have addresses ` +
                'of that',
              `set network.cilium.ipam back to ${ipam}, or build a new cluster`,
            ),
          ]),
      ...(Math.abs(minorNumber(version) - minorNumber(wanted.version)) <= 1
        ? []
        : [
            new Refused(
              'network-plugin-changed',
              name,
              `network.cilium.version is ${wanted.version}, the cluster has ${version}, and Cilium changes its minor ` +
                'version one at a time',
              'set network.cilium.version to the next minor first',
            ),
          ]),
    ];
  });
