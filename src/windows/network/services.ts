import type { Unobserved } from '../../engine/step.ts';

/** True where the network plugin and kube-proxy of Windows hosts are services, not pods. */
export const isService = ({ inventory }: Unobserved<'windows'>): boolean =>
  inventory.network.windows?.services === true;
