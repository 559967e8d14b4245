import { UNCONFINED } from '../host/kernel.value.ts';
import { confinesContainers, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ServiceBalancers } from '../inventory/network-plugins.ts';
import type { JsonObject } from '../shell/decode.ts';
import { KUBE_VIP_METRICS_PORT } from './load-balancers.value.ts';

const NAMESPACE = 'kube-system';
const RBAC = 'rbac.authorization.k8s.io';

interface Account {
  readonly account: string;
  readonly role: string;
  readonly rules: readonly JsonObject[];
}

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]): JsonObject => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

const CHANGES = ['get', 'list', 'watch', 'update', 'patch'];

/** As the chart of its project has it (`charts/kube-vip/templates/rbac.yaml`), and EndpointSlices. */
const SPEAKER: Account = {
  account: 'kube-vip-services',
  role: 'kbuild:kube-vip-services',
  rules: [
    rule('', ['services', 'services/status', 'nodes', 'endpoints'], CHANGES),
    rule('coordination.k8s.io', ['leases'], [...CHANGES, 'create']),
    rule('discovery.k8s.io', ['endpointslices'], ['get', 'list', 'watch']),
    rule('', ['pods'], ['get', 'list']),
    rule('', ['events'], ['create', 'patch']),
  ],
};

/** `manifest/kube-vip-cloud-controller.yaml` of v0.0.12, without rights to change what it only reads. */
const PROVIDER: Account = {
  account: 'kube-vip-cloud-controller',
  role: 'kbuild:kube-vip-cloud-controller',
  rules: [
    rule('coordination.k8s.io', ['leases'], ['get', 'create', 'update', 'list', 'watch']),
    rule('', ['configmaps', 'events', 'services/status'], ['create', 'get', 'list', 'watch', 'update', 'patch']),
    rule('', ['nodes', 'services'], CHANGES),
  ],
};

const rights = ({ account, role, rules }: Account): readonly JsonObject[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace: NAMESPACE } },
  { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: role }, rules },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: role },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
  },
];

/** Its words for ranges and networks: a ConfigMap has one key of each for all namespaces. */
function addressesOf({ pools }: ServiceBalancers): Readonly<Record<string, string>> {
  const all = Object.values(pools).flat();
  const of = (name: string, isNetwork: boolean): Readonly<Record<string, string>> => {
    const some = all.filter((text) => text.includes('/') === isNetwork);
    return some.length === 0 ? {} : { [name]: some.join(',') };
  };
  return { ...of('cidr-global', true), ...of('range-global', false) };
}

/** Control planes are no place for traffic from outside: kubeadm gives them this label, and it says so. */
const WORKERS = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'node.kubernetes.io/exclude-from-external-load-balancers', operator: 'DoesNotExist' },
          ],
        },
      ],
    },
  },
};

const SELECTED = { 'kubernetes.io/os': 'linux' } as const;

function daemonSet(inventory: Inventory, { image, interfaces: [own] }: ServiceBalancers): JsonObject {
  const labels = { app: 'kube-vip-services' };
  const env = {
    vip_arp: 'true',
    ...(own === undefined ? {} : { vip_interface: own }),
    svc_enable: 'true',
    svc_election: 'true',
    vip_leaderelection: 'true',
    vip_leaseduration: '5',
    vip_renewdeadline: '3',
    vip_retryperiod: '1',
    prometheus_server: `127.0.0.1:${String(KUBE_VIP_METRICS_PORT)}`,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'kube-vip-services', namespace: NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector: SELECTED,
          ...(linuxWorkers(inventory).length > 0 ? { affinity: WORKERS } : {}),
          hostNetwork: true,
          ...(confinesContainers(inventory) ? { securityContext: UNCONFINED } : {}),
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          serviceAccountName: SPEAKER.account,
          containers: [
            {
              name: 'kube-vip',
              image,
              args: ['manager'],
              env: [
                ...Object.entries(env).map(([name, value]) => ({ name, value })),
                { name: 'vip_nodename', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              ],
              securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] } },
            },
          ],
        },
      },
    },
  };
}

function provider({ providerImage }: ServiceBalancers): JsonObject {
  const labels = { app: 'kube-vip', component: 'kube-vip-cloud-provider' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'kube-vip-cloud-provider', namespace: NAMESPACE },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector: SELECTED,
          serviceAccountName: PROVIDER.account,
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          containers: [
            {
              name: 'kube-vip-cloud-provider',
              image: providerImage,
              command: ['/kube-vip-cloud-provider', '--leader-elect-resource-name=kube-vip-cloud-controller'],
            },
          ],
        },
      },
    },
  };
}

/** The objects of kube-vip for Services, and of its cloud provider, which gives out the addresses. */
export const kubeVipServices = (inventory: Inventory, settings: ServiceBalancers): readonly JsonObject[] => [
  ...rights(SPEAKER),
  ...rights(PROVIDER),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubevip', namespace: NAMESPACE },
    data: addressesOf(settings),
  },
  daemonSet(inventory, settings),
  provider(settings),
];
