import { describe, expect, test } from 'vitest';
import { announcedCas, CLUSTER_INFO, podsCas } from '../../src/certificates/cluster-info.step.ts';
import { type ClusterUp, objectKey } from '../../src/cluster/fleet/view.ts';
import { appliedOf } from '../../src/cluster/nodes.ts';
import { membersInData } from '../../src/etcd/restore-members.ts';
import { dnsDifferences } from '../../src/kubeadm/coredns.ts';
import { KUBE_PROXY, kubeProxyAstray, serverIn } from '../../src/kubeadm/endpoint-objects.step.ts';
import { settingsNote } from '../../src/kubeadm/marker.facts.ts';
import { calicoRefusals } from '../../src/network/calico.refusal.ts';
import { INSTALLATION } from '../../src/network/calico.value.ts';
import { networkRefusals } from '../../src/network/plugins.refusal.ts';
import { type JsonObject, kubeconfigOf, withInClusters } from '../../src/shell/decode.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost } from '../fakes/cluster.ts';
import { calicoNetwork, flannelNetwork, mixedFlannel, withNetwork } from '../fakes/network.ts';

const inventory = inventoryOf();
const mixed = withNetwork(withNetwork(inventory, flannelNetwork()), mixedFlannel());
const withObject = (key: string, object: JsonObject): ClusterUp => clusterOf({ objects: new Map([[key, object]]) });
const fleetWith = (key: string, object: JsonObject) => fleetIn(withObject(key, object), joinedHost(cp1));

const INFO = objectKey(CLUSTER_INFO);
const info = (kubeconfig: unknown): JsonObject => ({ ...CLUSTER_INFO, data: { kubeconfig } });
const NET_CONF = 'v1/ConfigMap/kube-flannel/kube-flannel-cfg';
const COREDNS = 'apps/v1/Deployment/kube-system/coredns';
const dns = { ...inventory, dns: { ...inventory.dns, replicas: 3 } };

const windows = { mode: 'calico', services: false, kubeProxyImage: 'kube-proxy' } as const;
const calico = (installation: JsonObject) => () =>
  calicoRefusals(withNetwork(inventory, calicoNetwork({ windows })), fleetWith(INSTALLATION, installation));

const CASES: readonly (readonly [string, () => unknown])[] = [
  ['an Installation of Calico that has a number as its spec', calico({ spec: 5 })],
  ['an Installation of Calico whose pools are no list', calico({ spec: { calicoNetwork: { ipPools: 'VXLAN' } } })],
  ['an Installation of Calico with a pool that is null', calico({ spec: { calicoNetwork: { ipPools: [null] } } })],
  [
    "flannel's ConfigMap without JSON",
    () => networkRefusals(mixed, fleetWith(NET_CONF, { data: { 'net-conf.json': '{' } })),
  ],
  [
    "flannel's ConfigMap without a backend",
    () => networkRefusals(mixed, fleetWith(NET_CONF, { data: { 'net-conf.json': '{}' } })),
  ],
  ['cluster-info whose kubeconfig is no YAML', () => announcedCas(withObject(INFO, info('a: [')))],
  ['cluster-info whose kubeconfig is a list', () => announcedCas(withObject(INFO, info('[]')))],
  ['cluster-info whose clusters are null', () => announcedCas(withObject(INFO, info('clusters: [null]')))],
  ['cluster-info whose data are a text', () => announcedCas(withObject(INFO, { ...CLUSTER_INFO, data: 'x' }))],
  [
    'cluster-info with a number as its server',
    () => serverIn(withObject(INFO, info('clusters: [{ cluster: { server: 5 } }]')), CLUSTER_INFO, 'kubeconfig'),
  ],
  [
    'a CA for pods that is no certificate',
    () => podsCas(clusterOf({ rootCas: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' })),
  ],
  [
    'a Deployment of CoreDNS whose containers are null',
    () => dnsDifferences(dns, withObject(COREDNS, { spec: { template: { spec: { containers: [null] } } } })),
  ],
];

describe('an object of the cluster that has another form is a fact that could not be read (exit 3)', () => {
  test.each(CASES)('%s', (_, read) => {
    expect(read).toThrow(expect.objectContaining({ name: 'FactError', exitCode: 3 }));
  });

  test('the DaemonSet of kube-proxy, whose annotations are a list', () => {
    const server = 'clusters: [{ cluster: { server: "https://k8s.example:6443" } }]';
    const cluster = clusterOf({
      configuration: { controlPlaneEndpoint: 'old.example:6443' },
      objects: new Map<string, JsonObject>([
        ['v1/ConfigMap/kube-system/kube-proxy', { data: { 'kubeconfig.conf': server } }],
        [objectKey(KUBE_PROXY), { spec: { template: { metadata: { annotations: [1] } } } }],
      ]),
    });
    const led = { ...inventory, endpoint: 'k8s.example:6443' };
    expect(() => kubeProxyAstray(led, cluster)).toThrow('could not tell the DaemonSet kube-proxy: unexpected output');
  });
});

test('a kubeconfig keeps all other fields when its clusters get a server', () => {
  const text = 'kind: Config\nclusters: [{ name: a, cluster: { server: x, other: 1 } }]\nusers: []\n';
  expect(withInClusters(kubeconfigOf(text), { server: 'y' })).toEqual({
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server: 'y', other: 1 } }],
    users: [],
  });
});

test.each(['5', 'null', '[]', '{"labels":5}', '{"taints":[null]}', '{'])(
  'kbuild removes no label and no taint where a node has %j as its note',
  (note) => {
    expect(appliedOf({ annotations: { 'kbuild.dev/applied': note } } as never)).toEqual({ labels: [], taints: [] });
  },
);

test('lines of etcd’s data that name no member are left out', () => {
  expect(
    membersInData('5\n{"name":5}\n{"name":"cp1","peerURLs":"x"}\n{"name":"cp2","peerURLs":["https://b:2380"]}'),
  ).toEqual([{ name: 'cp2', peerUrl: 'https://b:2380', healthy: false }]);
});

test('a note of settings in another form counts as missing', () => {
  for (const cluster of [
    5,
    { apiServer: { certSANs: 'x' } },
    { apiServer: { extraArgs: [null] } },
    { etcd: { local: { extraEnvs: [{}] } } },
    { scheduler: [] },
  ])
    expect(settingsNote(JSON.stringify({ cluster }))).toBeUndefined();
  expect(settingsNote('{"kubelet":1}')).toBeUndefined();
  expect(settingsNote('{"cluster":{"apiServer":{"certSANs":["a"],"extraArgs":[{"name":"v","value":"2"}]}}}')).toEqual({
    cluster: { apiServer: { certSANs: ['a'], extraArgs: [{ name: 'v', value: '2' }] } },
  });
});
