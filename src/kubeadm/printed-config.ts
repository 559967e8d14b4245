import { linuxNodes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { Secret } from '../shell/secret.ts';
import { toYaml } from '../shell/yaml.ts';
import { initDocuments, joinConfiguration } from './config.ts';
import { hostPatches, patchedKubeletConfig, sharedKubeletConfig } from './kubelet-config.ts';

/** Stands for what only a join has. */
const OF_JOIN = 'made for each join';

/** A join without its secrets. */
function joinOf(inventory: Inventory, host: LinuxHost): JsonObject {
  const join = joinConfiguration(inventory, host, { token: Secret.of(''), caHash: OF_JOIN });
  const { discovery } = join;
  const token = isObject(discovery) && isObject(discovery['bootstrapToken']) ? discovery['bootstrapToken'] : {};
  return { ...join, discovery: { bootstrapToken: { ...token, token: OF_JOIN } } };
}

function kubeletOf(inventory: Inventory, host: LinuxHost): string {
  const config = patchedKubeletConfig(sharedKubeletConfig(inventory), hostPatches(inventory, host));
  return config === undefined
    ? '# kubeadm computes it: a patch of kubeadm.patches has a directive or an operation on a list\n'
    : toYaml([config]);
}

/**
 * What kubeadm and the kubelet of each Linux node get, after all levels, defaults and overrides, as YAML with a comment
 * before each part. kubeadm and the kubelet add their own defaults. Without secrets: those of joins do not exist yet.
 */
export function printedConfiguration(inventory: Inventory): string {
  const nodes = linuxNodes(inventory);
  const first = nodes.find(({ role }) => role === 'control-plane');
  return nodes
    .flatMap((host) => [
      host === first
        ? `# ${host.name}: kubeadm init\n${toYaml(initDocuments(inventory, host))}`
        : `# ${host.name}: kubeadm join\n${toYaml([joinOf(inventory, host)])}`,
      `# ${host.name}: its kubelet\n${kubeletOf(inventory, host)}`,
    ])
    .join('---\n');
}
