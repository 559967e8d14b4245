/** Clusters with Cilium, whose chart and images the lab builds. */
import { join } from 'node:path';
import { buildOnDemand } from './build-all.ts';
import type { LabInventory } from './inventory.ts';
import { CILIUM_IMAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { CILIUM_IMAGES_PATH, CILIUM_PATH, HELM_PATH } from './recipes.ts';
import { VERSIONS } from './versions.ts';

/** Makes chart, images and Helm, unless they are there. To be called before the hosts are up, with which the registries start. */
export async function buildCilium(): Promise<void> {
  for (const path of [HELM_PATH, CILIUM_PATH, CILIUM_IMAGES_PATH]) await buildOnDemand(path);
  process.env['PATH'] = `${join(paths.www, HELM_PATH)}:${process.env['PATH']!}`;
}

/** As in the chart, without SYS_RESOURCE, which no host of the lab has. */
const CAPABILITIES = {
  ciliumAgent:
    'CHOWN KILL NET_ADMIN NET_RAW IPC_LOCK SYS_MODULE SYS_ADMIN DAC_OVERRIDE FOWNER SETGID SETUID SYSLOG'.split(' '),
  cleanCiliumState: ['NET_ADMIN', 'SYS_MODULE', 'SYS_ADMIN'],
};

/** Settings of an inventory with Cilium. `plain`: that of the lab; `more`: of `network.cilium`. */
export function withCilium(plain: LabInventory, kubeProxy: 'iptables' | 'none', more: object = {}): LabInventory {
  const runtime = plain['runtime'] as { readonly registries: readonly object[] };
  const registries = [...runtime.registries, { host: 'quay.io', mirrors: [CILIUM_IMAGES_URL] }];
  const values = { securityContext: { capabilities: CAPABILITIES } };
  const cilium = { version: VERSIONS.cilium, chart: join(paths.www, CILIUM_PATH, 'cilium.tgz'), values, ...more };
  return { ...plain, runtime: { ...runtime, registries }, network: { plugin: 'cilium', kubeProxy, cilium } };
}
