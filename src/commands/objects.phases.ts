import { CLUSTER_INFO } from '../certificates/cluster-info.step.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { record } from '../engine/objects.ts';
import type { Step } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { COREDNS, isDnsSet, KUBEADMS_PROGRAMS } from '../kubeadm/coredns.ts';
import { KUBE_PROXY, KUBE_PROXY_CONFIG } from '../kubeadm/endpoint-objects.step.ts';
import { KUBEADM_CONFIG } from '../kubeadm/endpoint.step.ts';
import { balancerManifest, poolManifest } from '../network/load-balancers.step.ts';
import { METALLB_NAMESPACE } from '../network/load-balancers.value.ts';
import { nodeLocalManifest } from '../network/node-local-dns.step.ts';
import { networkManifests, userManifest } from '../network/plugins.step.ts';
import { networkPlugins } from '../network/plugins.value.ts';
import { serviceSubnetManifest } from '../network/service-subnets.step.ts';
import { handlerManifest } from '../runtime/handlers.step.ts';
import type { JsonObject } from '../shell/decode.ts';
import { script } from '../templates.ts';
import { windowsNetworkManifest } from '../windows/network/plugins.step.ts';
import { runtimeClassManifest } from '../windows/runtime-classes.step.ts';

/** Every object that the inventory wants in the cluster. */
export const wantedObjects = (inventory: Inventory): readonly JsonObject[] =>
  [
    ...networkManifests(inventory),
    serviceSubnetManifest(inventory),
    windowsNetworkManifest(inventory),
    runtimeClassManifest(inventory),
    handlerManifest(inventory),
    balancerManifest(inventory),
    poolManifest(inventory),
    nodeLocalManifest(inventory),
    userManifest(inventory),
  ].flatMap((manifest) => manifest?.objects ?? []);

/**
 * The objects that kbuild observes in the cluster: also those in which its endpoint lives. With Windows hosts also all
 * that kubeadm deploys, which must not run there.
 */
export const observedObjects = (inventory: Inventory): readonly JsonObject[] => [
  ...wantedObjects(inventory),
  CLUSTER_INFO,
  KUBEADM_CONFIG,
  KUBE_PROXY_CONFIG,
  ...(isDnsSet(inventory) ? [COREDNS] : []),
  ...(windowsHosts(inventory).length === 0 ? [KUBE_PROXY] : KUBEADMS_PROGRAMS),
];

/** Kinds whose deletion also deletes objects of other owners: kbuild only gives up its ownership of them. */
const HOLDS_OTHERS = new Set(['Namespace', 'CustomResourceDefinition']);
const OWN_NAMESPACES = new Set(
  [...networkPlugins.map(({ ownNamespace = '' }) => ownNamespace), METALLB_NAMESPACE].map(
    (name) => `v1/Namespace//${name}`,
  ),
);

interface Key {
  readonly key: string;
  readonly kind: string;
  readonly title: string;
  readonly identity: JsonObject;
}

const isServiceCidr = ({ kind }: Key): boolean => kind === 'ServiceCIDR';

function read(key: string): Key {
  const [name, namespace, kind, ...group] = key.split('/').reverse() as [string, string, string, ...string[]];
  const metadata = namespace === '' ? { name } : { name, namespace };
  const identity = { apiVersion: group.reverse().join('/'), kind, metadata };
  return { key, kind, title: `${kind} ${name}`, identity };
}

/**
 * Deletes objects that kbuild applied and the inventory no longer has. Keeps Namespaces and CRDs, but no longer owns
 * them.
 */
export const unwantedObjects: Step<'cluster'> = {
  name: 'unwanted-objects',
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return [];
    const wanted = new Set(wantedObjects(inventory).map(objectKey));
    const unwanted = facts.owned.filter((key) => !wanted.has(key)).map(read);
    if (unwanted.length === 0) return [];
    const inUse = new Set([...wanted].map((key) => `v1/Namespace//${key.split('/').at(-2)!}`));
    const kept = unwanted.filter(
      ({ key, kind }) => HOLDS_OTHERS.has(kind) && (!OWN_NAMESPACES.has(key) || inUse.has(key)),
    );
    const deleted = unwanted.filter((key) => !kept.includes(key));
    const titles = (some: readonly Key[]): string => some.map(({ title }) => title).join(', ');
    return [
      {
        summary: [
          ...(deleted.length === 0
            ? []
            : [
                `delete ${titles(deleted)} (not in the inventory any more` +
                  (deleted.some(isServiceCidr) ? '; a ServiceCIDR stays until no Service has an address of it)' : ')'),
              ]),
          ...(kept.length === 0 ? [] : [`no longer manage ${titles(kept)} (it may hold objects of others)`]),
        ].join('; '),
        apply: async (on) => {
          const host = acting(fleet);
          const items = deleted.map(({ identity }) => identity);
          await on(host).run(
            script('engine/delete-objects.sh', {
              KUBECTL: kubectl(inventory, host).join(' '),
              MANAGER: FIELD_MANAGER,
              RECORD: JSON.stringify(record(facts.owned.filter((key) => wanted.has(key)))),
              OBJECTS: items.length === 0 ? '' : JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
            }),
          );
        },
      },
    ];
  },
};
