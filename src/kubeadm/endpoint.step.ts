import { parse, stringify } from 'yaml';
import { CLUSTER_INFO } from '../certificates/cluster-info.step.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { endpointHost } from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { objectOf, within } from '../shell/decode.ts';
import { apiServerNames, namesIn } from './config.ts';
import { kubeProxyAstray, patchObject, refuseUnproved, serverIn, textIn, withServer } from './endpoint-objects.step.ts';
import { isMoving, joinedNodes, kubeconfigsAstray, liveEndpoint, serverAt } from './endpoint.ts';

const KUBECONFIG_KEY = 'kubeconfig';

/**
 * The server in cluster-info, to which joining hosts connect, if it is not the inventory's endpoint; undefined if it
 * is, or if cluster-info names none.
 */
function announcedAstray(inventory: Inventory, cluster: ClusterUp): string | undefined {
  const found = serverIn(cluster, CLUSTER_INFO, KUBECONFIG_KEY);
  return found === serverAt(inventory.endpoint) ? undefined : found;
}

/** Writes the endpoint to cluster-info, which kubeadm's join reads. The controller manager signs it again. */
export const endpointPublished: Step<'cluster'> = {
  name: 'endpoint-published',
  diff: (target) => {
    const { inventory, facts } = target;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const found = announcedAstray(inventory, facts);
    if (found === undefined) return [];
    const server = serverAt(inventory.endpoint);
    return [
      {
        summary: `lead hosts that join ${inventory.name} to ${server} (found ${found} in cluster-info)`,
        apply: async (on) => {
          refuseUnproved(target);
          const kubeconfig = withServer(textIn(facts, CLUSTER_INFO, KUBECONFIG_KEY)!, server);
          await patchObject(target, CLUSTER_INFO, { data: { [KUBECONFIG_KEY]: kubeconfig } }, on);
        },
      },
    ];
  },
};

/** The ConfigMap with kubeadm's configuration, which its join and its upgrade read. */
export const KUBEADM_CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kubeadm-config', namespace: 'kube-system' },
} as const;

const CONFIGURATION_KEY = 'ClusterConfiguration';

/**
 * kubeadm's configuration with the endpoint, and with its name for API servers that join later. The old endpoint's name
 * stays, because clients may still use it.
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

/** @throws Refused while a part of the cluster does not use the endpoint: the new configuration would hide that */
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
      'endpoint-in-use',
      inventory.name,
      `the old endpoint is still in use: ${left.join('; ')}`,
      'run the same command again: it completes the earlier steps first',
    );
}

/**
 * Writes the endpoint to kubeadm's configuration. This is the last change of a move: until then, the same command
 * continues an interrupted move.
 */
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
        summary:
          `note ${inventory.endpoint} as the endpoint of ${inventory.name} in kubeadm-config (found ` +
          `${old === '' ? 'none' : old})`,
        apply: async (on) => {
          refuseTooEarly(target, facts);
          const text = textIn(facts, KUBEADM_CONFIG, CONFIGURATION_KEY);
          if (text === undefined) throw new Error('kubeadm-config was not observed');
          await patchObject(
            target,
            KUBEADM_CONFIG,
            { data: { [CONFIGURATION_KEY]: withEndpoint(text, { inventory, old }) } },
            on,
          );
        },
      },
    ];
  },
};
