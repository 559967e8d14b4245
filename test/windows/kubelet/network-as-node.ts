/** What flanneld and kube-proxy ask of a real API server when they are services, with the credentials of the node. */
import { setTimeout as delay } from 'node:timers/promises';
import { filesOf, type Machine } from '../host/machine.ts';
import { apiOf, type Api } from './api.ts';
import { kubeletAccess } from './join.ts';

const asNode = (machine: Machine): Api => apiOf(kubeletAccess((path) => filesOf(machine).text(path)));

const POD_CIDR_MS = 60_000;

/** flanneld: all nodes, its own node's network of pods, and its annotations on it. @throws ApiError when the node may not. */
export async function podSubnetAsNode(machine: Machine): Promise<string> {
  const api = asNode(machine);
  const path = `/api/v1/nodes/${machine.name}`;
  const until = Date.now() + POD_CIDR_MS;
  for (;;) {
    await api.get('/api/v1/nodes');
    const { spec } = (await api.get(path)) as { readonly spec: { readonly podCIDR?: string } };
    if (spec.podCIDR !== undefined) {
      const annotations = { 'flannel.alpha.coreos.com/backend-type': 'vxlan' };
      await api.patch(`${path}/status`, { metadata: { annotations } });
      return spec.podCIDR;
    }
    if (Date.now() > until) throw new Error(`${machine.name} got no podCIDR`);
    await delay(500);
  }
}

/** kube-proxy: Services, their endpoints and nodes. @throws ApiError when the node may not. */
export async function servicesAsNode(machine: Machine): Promise<void> {
  const api = asNode(machine);
  await api.get('/api/v1/services');
  await api.get('/apis/discovery.k8s.io/v1/endpointslices');
  await api.get('/api/v1/nodes');
}
