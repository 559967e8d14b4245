import { parseAllDocuments } from 'yaml';
import { inventoryOn, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { beyond, common, merged } from '../inventory/merge.ts';
import { containerRuntime, type ContainerRuntime } from '../runtime/runtimes.value.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { onceForEach } from '../shell/memo.ts';
import { toYaml } from '../shell/yaml.ts';
import { dnsPatch } from './coredns.ts';

/** Arguments that kubeadm itself adds to its flags file. All others in that file came from an inventory. */
export const KUBEADMS_OWN_FLAGS =
  /^--(register-with-taints|hostname-override|container-runtime-endpoint|pod-infra-container-image)=/;

export const KUBELET_CONFIG = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

const runtimeOn = (inventory: Inventory, host: LinuxHost): ContainerRuntime =>
  containerRuntime(inventoryOn(inventory, host));

/**
 * The desired kubelet configuration of a host: kbuild's own settings, those that its runtime needs, and the host's
 * merged ones.
 */
function hostKubeletConfig(inventory: Inventory, host: LinuxHost, runtime = runtimeOn(inventory, host)): JsonObject {
  return {
    ...merged(runtime.kubeletConfig?.(inventory.kubernetes.minor) ?? {}, host.kubelet.config),
    cgroupDriver: inventory.runtime.cgroupDriver,
  };
}

/**
 * The cluster's KubeletConfiguration. kubeadm keeps one for all nodes (ConfigMap kubelet-config), so it holds what all
 * Linux nodes of the inventory share. The rest of a host is its patch.
 */
export const sharedKubeletConfig = onceForEach((inventory: Inventory): JsonObject => ({
  ...KUBELET_CONFIG,
  ...common(linuxNodes(inventory).map((host) => hostKubeletConfig(inventory, host))),
}));

/**
 * The kubelet configuration of a host that differs from the cluster's; empty for most hosts. `runtime`: see
 * `hostPatches`.
 */
export const ownKubeletConfig = (inventory: Inventory, host: LinuxHost, runtime?: ContainerRuntime): JsonObject =>
  beyond(hostKubeletConfig(inventory, host, runtime), sharedKubeletConfig(inventory));

/** Sorts after `kubeletconfiguration0…9`, so that the host's own settings win over patch files of the inventory. */
const OWN_PATCH = 'kubeletconfigurationzz-kbuild+merge.yaml';

/**
 * The patch files of a host (name → content) in kubeadm's patches directory: the inventory's, the host's own kubelet
 * settings, and on control planes the patch of `dns`. kubeadm's init, join and upgrade apply them to the files that
 * they write on this host. `runtime`: the runtime that runs its pods, if that is not yet the inventory's.
 */
export function hostPatches(
  inventory: Inventory,
  host: LinuxHost,
  runtime?: ContainerRuntime,
): Readonly<Record<string, string>> {
  const own = ownKubeletConfig(inventory, host, runtime);
  const shared =
    host.role === 'control-plane'
      ? { ...inventory.kubeadm.patches, ...dnsPatch(inventory) }
      : inventory.kubeadm.patches;
  if (Object.keys(own).length === 0) return shared;
  return { ...shared, [OWN_PATCH]: toYaml([{ ...KUBELET_CONFIG, ...own }]) };
}

const TARGET = 'kubeletconfiguration';

/** Applies a JSON merge patch (RFC 7386): null removes a field, lists are replaced. */
function mergePatch(base: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

/** True if a strategic merge patch has a directive that a merge patch cannot express. */
const hasDirective = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasDirective)
    : isObject(value) && Object.entries(value).some(([key, inner]) => key.startsWith('$') || hasDirective(inner));

/** Applies one operation of a JSON patch (RFC 6902) to fields of objects; undefined for an operation on a list. */
function jsonOperation(base: JsonObject, operation: unknown): JsonObject | undefined {
  if (!isObject(operation)) return undefined;
  const { op, path, value } = operation;
  if (typeof path !== 'string' || !path.startsWith('/')) return undefined;
  if (op !== 'add' && op !== 'replace' && op !== 'remove') return undefined;
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const parents = keys.slice(0, -1);
  let at: unknown = base;
  for (const key of parents) at = isObject(at) ? at[key] : undefined;
  if (!isObject(at)) return undefined;
  // A merge patch keeps an object's old fields, so it is removed first.
  const nested = (inner: unknown) => keys.reduceRight<unknown>((found, key) => ({ [key]: found }), inner);
  const without = mergePatch(base, nested(null));
  return (op === 'remove' ? without : mergePatch(without, nested(value))) as JsonObject;
}

/** The base with one patch file applied; undefined if only kubeadm can apply it. */
function patched(base: JsonObject, name: string, content: string): JsonObject | undefined {
  const type = /\+(strategic|merge|json)\.(?:yaml|json)$/.exec(name)?.[1] ?? 'strategic';
  const documents = parseAllDocuments(content).map((document) => document.toJS() as unknown);
  return documents.reduce<JsonObject | undefined>((found, patch) => {
    if (found === undefined || patch === null) return found;
    if (type === 'json')
      return Array.isArray(patch)
        ? patch.reduce<JsonObject | undefined>((one, operation) => one && jsonOperation(one, operation), found)
        : undefined;
    if (!isObject(patch) || (type === 'strategic' && hasDirective(patch))) return undefined;
    return mergePatch(found, patch) as JsonObject;
  }, base);
}

/**
 * The kubelet's configuration as kubeadm computes it from the cluster's and the patch files of a host (name → content),
 * in the order of their names. No list of a KubeletConfiguration has a merge key, so a strategic merge patch is a merge
 * patch. undefined for a directive or an operation on a list, which kbuild does not compute.
 */
export function patchedKubeletConfig(
  base: JsonObject,
  patches: Readonly<Record<string, string>>,
): JsonObject | undefined {
  const names = Object.keys(patches)
    .filter((name) => name.startsWith(TARGET))
    .sort();
  try {
    return names.reduce<JsonObject | undefined>(
      (found, name) => (found === undefined ? undefined : patched(found, name, patches[name]!)),
      base,
    );
  } catch {
    // The patch is not valid YAML; kubeadm reports it.
    return undefined;
  }
}
