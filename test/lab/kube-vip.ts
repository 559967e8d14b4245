/** Clusters with kube-vip, whose image the lab builds. */
import { buildOnDemand } from './build-all.ts';
import type { LabInventory } from './inventory.ts';
import { MORE_IMAGES_URL, REGISTRY_URL } from './network-plan.ts';
import { KUBE_VIP_PATH } from './recipes.ts';
import { VERSIONS } from './versions.ts';

/** Makes the image, unless it is there. To be called before the hosts are up, with which the registry that has it starts. */
export const buildKubeVip = (): Promise<void> => buildOnDemand(KUBE_VIP_PATH);

/** Settings of an inventory whose control planes have the virtual address by kube-vip. `plain`: that of the lab. */
export function withKubeVip(plain: LabInventory, address: string): Readonly<Record<string, unknown>> {
  const image = `ghcr.io/kube-vip/kube-vip:v${VERSIONS.kubeVip}`;
  const registries = [
    { host: 'registry.k8s.io', mirrors: [REGISTRY_URL] },
    { host: 'ghcr.io', mirrors: [REGISTRY_URL, MORE_IMAGES_URL] },
  ];
  return {
    loadBalancer: { kind: 'kube-vip', address, image },
    runtime: { ...(plain['runtime'] as object), registries },
  };
}
