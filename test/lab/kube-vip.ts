/** Clusters with kube-vip, whose image the lab builds. */
import { buildOnDemand } from './build-all.ts';
import type { LabInventory } from './inventory.ts';
import { MORE_IMAGES_URL, REGISTRY_URL } from './network-plan.ts';
import { KUBE_VIP_PATH } from './recipes.ts';
import { VERSIONS } from './versions.ts';

/** Makes the image, unless it is there. To be called before the hosts are up, with which the registry that has it starts. */
export const buildKubeVip = (): Promise<void> => buildOnDemand(KUBE_VIP_PATH);

const image = `ghcr.io/kube-vip/kube-vip:v${VERSIONS.kubeVip}`;
const registries = [
  { host: 'registry.k8s.io', mirrors: [REGISTRY_URL] },
  { host: 'ghcr.io', mirrors: [REGISTRY_URL, MORE_IMAGES_URL] },
];

/** Settings of an inventory where kube-vip answers for addresses of Services, beside a provider that gives out none. */
export const withKubeVipServices = (plain: LabInventory, pools: object): Readonly<Record<string, unknown>> => ({
  network: {
    loadBalancers: {
      ...{ kind: 'kube-vip', image, pools },
      providerImage: `ghcr.io/kube-vip/kube-vip-cloud-provider:v${VERSIONS.kubeVipProvider}`,
    },
  },
  runtime: { ...(plain['runtime'] as object), registries },
});

/** Settings of an inventory whose control planes have the virtual address by kube-vip. `plain`: that of the lab. */
export function withKubeVip(plain: LabInventory, address: string): Readonly<Record<string, unknown>> {
  return {
    loadBalancer: { kind: 'kube-vip', address, image },
    runtime: { ...(plain['runtime'] as object), registries },
  };
}
