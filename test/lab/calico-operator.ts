/**
 * Clusters with Calico, whose programs and images the lab builds. And what stands in for it where there are Windows hosts: kinds that take
 * anything, and flannel's pods under Calico's names. What kbuild does with Calico is real then; what Calico would do with it is not.
 */
import { join } from 'node:path';
import { flannelObjects } from '../../src/network/flannel.step.ts';
import { hostProcessDaemon } from '../../src/windows/network/host-pods.step.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { flannelNetwork, withNetwork } from '../fakes/network.ts';
import { buildOnDemand } from './build-all.ts';
import type { LabInventory } from './inventory.ts';
import { CALICO_IMAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { CALICO_IMAGES_PATH, CALICO_PATH } from './recipes.ts';

/** Makes Calico's manifests and images, unless they are there. To be called before the hosts are up, with which the registries start. */
export async function buildCalico(): Promise<void> {
  for (const path of [CALICO_PATH, CALICO_IMAGES_PATH]) await buildOnDemand(path);
}

/** Settings of an inventory with Calico. `plain`: that of the lab; `more`: of `network`. */
export function withCalico(plain: LabInventory, more: object = {}): LabInventory {
  const runtime = plain['runtime'] as { readonly registries: readonly object[] };
  const mirrors = [CALICO_IMAGES_URL];
  const registries = [...runtime.registries, { host: 'quay.io', mirrors }, { host: 'docker.io', mirrors }];
  const operator = ['operator-crds.yaml', 'tigera-operator.yaml'].map((name) =>
    join(paths.www, CALICO_PATH, 'manifests', name),
  );
  return {
    ...plain,
    runtime: { ...runtime, registries },
    network: { plugin: 'calico', calico: { operator }, ...more },
  };
}

const crd = (group: string, version: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** The CRDs that a real manifest of Calico has too. */
export const calicoCrds = [
  crd('operator.tigera.io', 'v1', 'Installation'),
  crd('crd.projectcalico.org', 'v1', 'IPAMConfig'),
  crd('crd.projectcalico.org', 'v1', 'FelixConfiguration'),
];

const namespace = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
});

const vxlan = withNetwork(inventoryOf(), flannelNetwork({ port: 4789, vni: 4096 }));

const underCalicosNames = (text: string): string =>
  text
    .replaceAll('"kube-flannel"', '"calico-system"')
    .replaceAll('"app":"flannel"', '"k8s-app":"calico-node"')
    .replaceAll('10-flannel.conflist', '10-calico.conflist');

/** The operator's namespace, and what it would make: pods on Linux hosts, and on Windows hosts. */
export const calicoStandIn: readonly object[] = [
  namespace('tigera-operator'),
  ...(JSON.parse(underCalicosNames(JSON.stringify(flannelObjects(vxlan)))) as object[]),
  hostProcessDaemon({
    name: 'calico-node-windows',
    namespace: 'calico-system',
    label: { name: 'k8s-app', value: 'calico-node-windows' },
    serviceAccount: 'flannel',
    configuration: '',
    containers: [{ name: 'node', image: 'quay.io/calico/node-windows:stand-in' }],
    volumes: [],
  }),
];
