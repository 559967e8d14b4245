/**
 * What stands in for Calico and its operator, whose images the lab does not have: kinds that take anything, and flannel's pods
 * under Calico's names. What kbuild does with Calico is real then; what Calico would do with it is not.
 */
import { flannelObjects } from '../../src/network/flannel.step.ts';
import { hostProcessDaemon } from '../../src/windows/network/host-pods.step.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { flannelNetwork, withNetwork } from '../fakes/network.ts';

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
