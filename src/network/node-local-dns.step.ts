import { UNCONFINED } from '../host/kernel.value.ts';
import { bracketed, dnsServiceAddress } from '../inventory/addresses.ts';
import { confinesContainers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { manifest, type Manifest } from '../engine/objects.ts';
import type { JsonObject } from '../shell/decode.ts';
import { sha256Of } from '../shell/secret.ts';
import { CONFIG_ANNOTATION } from './plugin.value.ts';

/** The interface that node-cache makes for its addresses. */
export const NODE_LOCAL_INTERFACE = 'nodelocaldns';

const NAMESPACE = 'kube-system';
const NAME = 'node-local-dns';
const UPSTREAM = 'kube-dns-upstream';
const LABELS = { 'k8s-app': NAME } as const;

/** node-cache itself puts in the address of the Service `kube-dns-upstream`, and the resolvers of its host. */
const [CLUSTER_DNS, HOSTS_RESOLVERS] = ['__PILLAR__CLUSTER__DNS__', '__PILLAR__UPSTREAM__SERVERS__'] as const;

const block = (zone: string, lines: readonly string[]): string =>
  [`${zone}:53 {`, ...lines.map((line) => `    ${line}`), '}', ''].join('\n');

/**
 * `cluster/addons/dns/nodelocaldns/nodelocaldns.yaml` of Kubernetes 1.37.1 (SHA-256 4e648f5d…adb8). With zones of the
 * inventory's own, CoreDNS is asked for all names: the hosts' resolvers know nothing of them.
 */
function corefile(inventory: Inventory, address: string): string {
  const bind = `bind ${address} ${dnsServiceAddress(inventory)}`;
  const common = ['errors', 'cache 30', 'reload', 'loop', bind];
  const toCluster = [`forward . ${CLUSTER_DNS} {`, '    force_tcp', '}', 'prometheus :9253'];
  const cached = ['errors', 'cache {', '    success 9984 30', '    denial 9984 5', '}', 'reload', 'loop', bind];
  const hasBlocks = Object.keys(inventory.dns.blocks).length > 0;
  return [
    block(inventory.kubernetes.dnsDomain, [...cached, ...toCluster, `health ${bracketed(address)}:8080`]),
    block('in-addr.arpa', [...common, ...toCluster]),
    block('ip6.arpa', [...common, ...toCluster]),
    block('.', [...common, ...(hasBlocks ? toCluster : [`forward . ${HOSTS_RESOLVERS}`, 'prometheus :9253'])]),
  ].join('');
}

const service = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: NAMESPACE, labels: name === NAME ? LABELS : { 'k8s-app': 'kube-dns' } },
  spec,
});

const dnsPort = (name: string, protocol: string): JsonObject => ({ name, port: 53, protocol, targetPort: 53 });

function podSpec(inventory: Inventory, { image, address }: { readonly image: string; readonly address: string }) {
  return {
    priorityClassName: 'system-node-critical',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    serviceAccountName: NAME,
    hostNetwork: true,
    ...(confinesContainers(inventory) ? { securityContext: UNCONFINED } : {}),
    // Not the cluster's DNS, for which it stands.
    dnsPolicy: 'Default',
    tolerations: [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
      { effect: 'NoExecute', operator: 'Exists' },
      { effect: 'NoSchedule', operator: 'Exists' },
    ],
    containers: [
      {
        name: 'node-cache',
        image,
        resources: { requests: { cpu: '25m', memory: '5Mi' } },
        args: [
          ...['-localip', `${address},${dnsServiceAddress(inventory)}`, '-conf', '/etc/Corefile'],
          ...['-upstreamsvc', UPSTREAM],
        ],
        securityContext: { capabilities: { add: ['NET_ADMIN'] } },
        livenessProbe: {
          httpGet: { host: address, path: '/health', port: 8080 },
          initialDelaySeconds: 60,
          timeoutSeconds: 5,
        },
        volumeMounts: [
          { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
          { name: 'config-volume', mountPath: '/etc/coredns' },
          { name: 'kube-dns-config', mountPath: '/etc/kube-dns' },
        ],
      },
    ],
    volumes: [
      { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
      { name: 'kube-dns-config', configMap: { name: 'kube-dns', optional: true } },
      { name: 'config-volume', configMap: { name: NAME, items: [{ key: 'Corefile', path: 'Corefile.base' }] } },
    ],
  };
}

/** The objects of NodeLocal DNSCache; undefined if the inventory wants none. */
export function nodeLocalManifest(inventory: Inventory): Manifest | undefined {
  const settings = inventory.network.nodeLocalDns;
  if (settings === undefined) return undefined;
  const data = { Corefile: corefile(inventory, settings.address) };
  const metadata = { name: NAME, namespace: NAMESPACE };
  const objects: readonly JsonObject[] = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    service(UPSTREAM, {
      ports: [dnsPort('dns', 'UDP'), dnsPort('dns-tcp', 'TCP')],
      selector: { 'k8s-app': 'kube-dns' },
    }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...metadata, labels: LABELS },
      spec: {
        selector: { matchLabels: LABELS },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
        template: {
          metadata: {
            labels: LABELS,
            annotations: { [CONFIG_ANNOTATION]: sha256Of(JSON.stringify(data)).slice(0, 16) },
          },
          spec: podSpec(inventory, settings),
        },
      },
    },
    service(NAME, {
      clusterIP: 'None',
      ports: [{ name: 'metrics', port: 9253, targetPort: 9253 }],
      selector: LABELS,
    }),
  ];
  return { title: `NodeLocal DNSCache (${settings.image})`, objects, compare: 'hash' };
}

/** A cache of DNS on every node. */
export const nodeLocalDns = manifest('node-local-dns', nodeLocalManifest);
