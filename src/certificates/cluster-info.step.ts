import { stringify } from 'yaml';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import { type JsonObject, kubeconfigOf, ofCluster, textIn, textsOf, within, withInClusters } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { authorityCertificate, type AuthorityCertificate } from './certificates.facts.ts';
import { certificatesIn } from './fingerprint.value.ts';
import { bundleText } from './place-authority.step.ts';

/** The ConfigMap that tells joining hosts the CA; everyone may read it. */
export const CLUSTER_INFO = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cluster-info', namespace: 'kube-public' },
} as const;

const kubeconfigIn = (clusterInfo: JsonObject): string | undefined => textsOf(clusterInfo['data'])['kubeconfig'];

/**
 * The CAs in cluster-info, which joining hosts trust; undefined if it has none. @throws FactError if cluster-info has
 * another form
 */
export function announcedCas(cluster: ClusterUp): readonly AuthorityCertificate[] | undefined {
  const live = cluster.objects.get(objectKey(CLUSTER_INFO));
  if (live === undefined) return undefined;
  return ofCluster(cluster, 'ConfigMap cluster-info', () => {
    const text = kubeconfigIn(live);
    if (text === undefined) return undefined;
    const data = textIn(kubeconfigOf(text).clusters[0]?.cluster['certificate-authority-data'], '');
    return certificatesIn(Buffer.from(data, 'base64').toString('utf8')).map(authorityCertificate);
  });
}

/** The CAs in the ConfigMap that pods mount. @throws FactError if one of them is no certificate */
export const podsCas = (cluster: ClusterUp): readonly AuthorityCertificate[] =>
  ofCluster(cluster, 'ConfigMap kube-root-ca.crt', () => certificatesIn(cluster.rootCas).map(authorityCertificate));

/** True if both are the same certificates, in any order. */
const sameSet = (some: readonly AuthorityCertificate[], others: readonly AuthorityCertificate[]): boolean =>
  [...some.map(({ pem }) => pem)].sort().join('') === [...others.map(({ pem }) => pem)].sort().join('');

/** The kubeconfig with these certificates as its CA. */
function withCas(text: string, bundle: readonly AuthorityCertificate[]): string {
  const data = Buffer.from(bundle.map(({ pem }) => pem).join('')).toString('base64');
  return stringify(withInClusters(kubeconfigOf(text), { 'certificate-authority-data': data }));
}

async function announce(
  { inventory, fleet }: Pick<Target<'cluster'>, 'inventory' | 'fleet'>,
  live: JsonObject,
  bundle: readonly AuthorityCertificate[],
  on: On,
): Promise<void> {
  const control = acting(fleet);
  const { resourceVersion } = within(live, 'metadata');
  // If something has changed the object meanwhile, the API refuses the patch.
  const patch = {
    metadata: { resourceVersion },
    data: { kubeconfig: withCas(kubeconfigIn(live)!, bundle) },
  };
  await on(control).run(
    sh`printf %s ${JSON.stringify(patch)} | ${kubectl(inventory, control)} -n kube-public patch configmap cluster-info --type merge --patch-file /dev/stdin`,
  );
}

/**
 * Publishes these CAs to joining hosts and pods: writes cluster-info, and waits for kube-root-ca.crt, which the
 * controller manager writes after it has started with them. `later`: this run has not made an authority yet. `nothing`:
 * there is nothing to publish.
 */
export const authorityPublished = (
  wanted: (target: Target<'cluster'>) => readonly AuthorityCertificate[] | 'later' | 'nothing',
  name = 'authority-published',
): Step<'cluster'> => ({
  name,
  settleMs: 3 * 60_000,
  diff: (target) => {
    const { facts, inventory } = target;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const bundle = wanted(target);
    if (bundle === 'nothing') return [];
    if (bundle === 'later')
      return [{ summary: `tell the new authority to hosts that join ${inventory.name}, and to pods` }];
    const changes: Change[] = [];
    const announced = announcedCas(facts);
    if (announced !== undefined && !sameSet(announced, bundle))
      changes.push({
        summary:
          `tell hosts that join ${inventory.name} to trust ${bundleText(bundle)} (found ${bundleText(announced)} ` +
          'in cluster-info)',
        apply: (on) => announce(target, facts.objects.get(objectKey(CLUSTER_INFO))!, bundle, on),
      });
    const found = podsCas(facts);
    if (!sameSet(found, bundle))
      changes.push({
        summary:
          `wait until the controller manager gives pods ${bundleText(bundle)} (found ${bundleText(found)} in ` +
          'kube-root-ca.crt)',
      });
    return changes;
  },
});
