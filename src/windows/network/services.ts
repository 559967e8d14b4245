import type { Unobserved } from '../../engine/step.ts';

/** True if the network plugin and kube-proxy run as services on Windows hosts, not as pods. */
export const isService = ({ inventory }: Unobserved<'windows'>): boolean =>
  inventory.network.windows?.services === true;
