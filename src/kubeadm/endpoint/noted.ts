import { parse, stringify } from 'yaml';
import { isMoving, joinedNodes, kubeconfigsAstray, liveEndpoint } from '../../cluster/endpoint-move.ts';
import { apiServerNames, namesIn } from '../../configuration/kubeadm-config.ts';
import type { Step, Target } from '../../engine/step.ts';
import { Refused } from '../../errors.ts';
import type { ClusterUp } from '../../facts/cluster.ts';
import { waitForApi } from '../../resources/wait-for-api.ts';
import { objectOf, within } from '../../shell/decode.ts';
import { endpointHost } from '../../topology/api-server.ts';
import { patchObject, textIn } from './config-map.ts';
import { kubeProxyAstray } from './kube-proxy.ts';
import { refuseUnproved } from './proved.ts';
import { announcedAstray } from './published.ts';

/** The ConfigMap with kubeadm's configuration, which its join and its upgrade read. */
export const KUBEADM_CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kubeadm-config', namespace: 'kube-system' },
} as const;

const KEY = 'ClusterConfiguration';

/**
 * kubeadm's configuration with the endpoint, and with its names for the API servers that join later. The old one stays among them:
 * clients may still use it.
 */
export function withEndpoint(text: string, { inventory, old }: Pick<Target, 'inventory'> & { readonly old: string }) {
  const found = objectOf(parse(text));
  const certSANs = [
    ...new Set([...namesIn(found), ...apiServerNames(inventory), ...(old === '' ? [] : [endpointHost(old)])]),
  ];
  return stringify(
    {
      ...found,
      controlPlaneEndpoint: inventory.endpoint,
      apiServer: { ...within(found, 'apiServer'), certSANs },
    },
    { lineWidth: 0 },
  );
}

/** @throws Refused while something of the cluster is not led to the endpoint: the note would hide it */
function refuseTooEarly(target: Target<'cluster'>, cluster: ClusterUp): void {
  const { inventory, fleet } = target;
  refuseUnproved(target);
  const left = [
    ...joinedNodes(inventory, fleet).flatMap((seen) => {
      const astray = kubeconfigsAstray(inventory, cluster, seen);
      return astray.length === 0 ? [] : [`${astray.map(({ name }) => name).join(', ')} of ${seen.host.name}`];
    }),
    ...(announcedAstray(inventory, cluster) === undefined ? [] : ['cluster-info']),
    ...(kubeProxyAstray(inventory, cluster) === undefined ? [] : ['kube-proxy']),
  ];
  if (left.length > 0)
    throw new Refused(
      inventory.name,
      `the old endpoint is still in use: ${left.join('; ')}`,
      'run the same command again: it does what is left first',
    );
}

/** Notes the endpoint in kubeadm's configuration, the last of its places: until then, the same command goes on where a run was cut off. */
export const endpointNoted: Step<'cluster'> = {
  name: 'endpoint-noted',
  diff: (target) => {
    const { inventory, facts } = target;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    if (!isMoving(inventory, facts)) return [];
    const old = liveEndpoint(facts);
    return [
      {
        summary: `note ${inventory.endpoint} as the endpoint of ${inventory.name} in kubeadm-config (found ${old === '' ? 'none' : old})`,
        apply: async (on) => {
          refuseTooEarly(target, facts);
          const text = textIn(facts, KUBEADM_CONFIG, KEY);
          if (text === undefined) throw new Error('kubeadm-config was not observed');
          await patchObject(target, KUBEADM_CONFIG, { data: { [KEY]: withEndpoint(text, { inventory, old }) } }, on);
        },
      },
    ];
  },
};
