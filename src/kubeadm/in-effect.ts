import type { ClusterUp } from '../cluster/fleet/view.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { holds, type Named } from '../inventory/merge.ts';
import type { ContainerRuntime } from '../runtime/runtimes.value.ts';
import { isObject, type JsonObject, objectsOf, within } from '../shell/decode.ts';
import { kubeletArguments } from './config.ts';
import { hostPatches, patchedKubeletConfig, sharedKubeletConfig } from './kubelet-config.ts';
import { DURATION, quantityOf } from './typed.value.ts';

/** Kubeadm, the runtime or systemd-resolved may decide these for a host; the last one is masked in the answer. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'cgroupDriver', 'containerRuntimeEndpoint', 'imageServiceEndpoint', 'staticPodURLHeader'],
]);

const UNITS_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

/** A duration in ms: the kubelet writes `4m0s` for `240s`. */
const durationMs = (text: string): number =>
  [...text.matchAll(/(\d{1,20}(?:\.\d{1,20})?)(ms|us|µs|ns|[hms])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * UNITS_MS[unit!]!,
    0,
  );

/** True for a value that lets the kubelet take its default. */
const isDefault = (value: unknown): boolean =>
  value === null ||
  value === 0 ||
  value === '' ||
  (typeof value === 'string' && DURATION.test(value) && durationMs(value) === 0);

/** True if the kubelet runs with the value, in whatever form it writes it. */
function runsWith(desired: unknown, live: unknown): boolean {
  if (isDefault(desired)) return true;
  if (Array.isArray(desired))
    return Array.isArray(live) && live.length === desired.length && desired.every((one, i) => runsWith(one, live[i]));
  if (isObject(desired)) {
    const found = isObject(live) ? live : {};
    return Object.entries(desired).every(([key, value]) => runsWith(value, found[key]));
  }
  // Go leaves false out of an answer where false is the default.
  if (desired === false && live === undefined) return true;
  if (typeof desired === 'string' && typeof live === 'string' && desired !== live) {
    if (DURATION.test(desired) && DURATION.test(live)) return durationMs(desired) === durationMs(live);
    const amount = quantityOf(desired);
    return amount !== undefined && amount === quantityOf(live);
  }
  return holds(desired, live);
}

/** A setting of the kubelet's configuration that the running kubelet does not have. */
export interface Idle {
  /** The field, e.g. `maxPods`. */
  readonly key: string;
  /** The value with which the kubelet runs; undefined: it has no such setting. */
  readonly live: unknown;
}

/** The flag of a setting: `maxPods` → `--max-pods`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * The settings of the inventory that do not take effect in the kubelet of a host, though they may stand in its file: it
 * was not started again, another file or a flag wins, or it knows no such setting. An argument of the inventory is
 * meant to win. `runtime`: see `hostPatches`. Empty if the kubelet does not tell, or if only kubeadm can apply the
 * host's patches.
 */
export function idleKubeletSettings(
  inventory: Inventory,
  host: LinuxHost,
  { kubelets }: ClusterUp,
  runtime?: ContainerRuntime,
): readonly Idle[] {
  const live = kubelets.get(host.name);
  const desired = patchedKubeletConfig(sharedKubeletConfig(inventory), hostPatches(inventory, host, runtime));
  if (live === undefined || desired === undefined) return [];
  const given = new Set(kubeletArguments(host).map(({ name }) => `--${name}`));
  return Object.entries(desired).flatMap(([key, value]) =>
    NOT_COMPARED.has(key) || given.has(flagOf(key)) || runsWith(value, live[key]) ? [] : [{ key, live: live[key] }],
  );
}

/** The parts of ClusterConfiguration with arguments, and the components that get them. */
const COMPONENTS = [
  { of: ['apiServer'], component: 'kube-apiserver' },
  { of: ['controllerManager'], component: 'kube-controller-manager' },
  { of: ['scheduler'], component: 'kube-scheduler' },
  { of: ['etcd', 'local'], component: 'etcd' },
] as const;

/** An argument of the inventory with which a static pod does not run. */
export interface IdleArgument {
  readonly host: string;
  readonly component: (typeof COMPONENTS)[number]['component'];
  /** e.g. `--profiling` */
  readonly flag: string;
}

const argumentsIn = (cluster: JsonObject, of: readonly string[]): readonly (Named & { readonly value: string })[] =>
  objectsOf(within(cluster, ...of)['extraArgs']).map(({ name, value }) => ({
    name: String(name),
    value: String(value),
  }));

/**
 * The arguments of the inventory with which static pods of control planes do not run, because an operator edited a
 * manifest or the kubelet has not taken it. A component that a patch changes is left out, and so is one of which the
 * cluster shows no pod.
 */
export function idleArguments(inventory: Inventory, { pods }: ClusterUp): readonly IdleArgument[] {
  const { cluster, patches } = inventory.kubeadm;
  return COMPONENTS.flatMap(({ of, component }) => {
    const desired = argumentsIn(cluster, of);
    if (desired.length === 0 || Object.keys(patches).some((name) => name.startsWith(component))) return [];
    return controlPlanes(inventory).flatMap(({ name: host }) => {
      const command = pods.find(({ name, node }) => node === host && name === `${component}-${host}`)?.command;
      if (command === undefined) return [];
      return desired
        .filter(({ name, value }) => !command.includes(`--${name}=${value}`))
        .map(({ name }) => ({ host, component, flag: `--${name}` }));
    });
  });
}
