import { stringify } from 'smol-toml';
import type { Inventory } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import type { HandlerKind, RuntimeHandler } from '../inventory/runtime-handlers.ts';
import type { JsonObject } from '../shell/decode.ts';
import { runscShim } from './handlers.value.ts';
import { pauseImage } from './registries.value.ts';

/** The value at a path of tables in parsed TOML; undefined if one of them is missing. */
export const valueAt = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined),
    value,
  );

/** The text at a path of tables; undefined if there is another value or none. */
export function textAt(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = valueAt(value, ...keys);
  return typeof found === 'string' ? found : undefined;
}

/** Folder of containerd's settings for registries. */
export const CERTS_D = '/etc/containerd/certs.d';

/** Settings that gVisor's shim reads at the start of each pod. */
export const RUNSC_CONFIG = '/etc/containerd/kbuild-runsc.toml';

const RUNC_SHIM = 'io.containerd.runc.v2';

const runc = ({ runtime }: Inventory): JsonObject => ({
  runtime_type: RUNC_SHIM,
  options: { SystemdCgroup: runtime.cgroupDriver === 'systemd' },
});

/**
 * A program with runc's command line. containerd reports one cgroup driver for all handlers to the kubelet, so the
 * program gets runc's driver.
 */
const likeRunc = ({ path }: RuntimeHandler, { runtime }: Inventory): JsonObject => ({
  runtime_type: RUNC_SHIM,
  options: { BinaryName: path, SystemdCgroup: runtime.cgroupDriver === 'systemd' },
});

/** The table of a handler, by its kind. */
export const HANDLER_TABLES: Readonly<
  Record<HandlerKind, (handler: RuntimeHandler, inventory: Inventory) => JsonObject>
> = {
  crun: likeRunc,
  nvidia: likeRunc,
  // As kata-deploy writes it.
  kata: ({ path, config }) => ({
    runtime_type: 'io.containerd.kata.v2',
    runtime_path: path,
    privileged_without_host_devices: true,
    pod_annotations: ['io.katacontainers.*'],
    ...(config === undefined ? {} : { options: { ConfigPath: config } }),
  }),
  runsc: ({ path }) => ({
    runtime_type: 'io.containerd.runsc.v1',
    runtime_path: runscShim(path),
    options: { TypeUrl: 'io.containerd.runsc.v1.options', ConfigPath: RUNSC_CONFIG },
  }),
};

/** Content of RUNSC_CONFIG. runsc takes its cgroup driver from there; values of flags are text. */
export const runscConfig = ({ path }: RuntimeHandler, { runtime }: Inventory): string =>
  stringify({
    binary_name: path,
    runsc_config: { 'systemd-cgroup': String(runtime.cgroupDriver === 'systemd') },
  });

/** All handlers. The default is always runc; the inventory adds further ones. */
const runtimes = (inventory: Inventory): JsonObject => ({
  default_runtime_name: 'runc',
  runtimes: {
    runc: runc(inventory),
    ...Object.fromEntries(
      inventory.runtime.handlers.map((handler) => [handler.name, HANDLER_TABLES[handler.kind](handler, inventory)]),
    ),
  },
});

const registry: JsonObject = { config_path: CERTS_D };

/** Without this setting no container gets an SELinux label. */
const labels = ({ runtime }: Inventory): JsonObject => (runtime.selinux ? { enable_selinux: true } : {});

/** File version 2, the newest that containerd 1.x accepts. */
const ofMajor1 = (inventory: Inventory): JsonObject => ({
  version: 2,
  plugins: {
    'io.containerd.grpc.v1.cri': {
      sandbox_image: pauseImage(inventory),
      registry,
      ...labels(inventory),
      containerd: runtimes(inventory),
    },
  },
});

/** File version 3, which every containerd 2.x accepts. Version 4 fails on 2.2 and older. */
const ofMajor2 = (inventory: Inventory): JsonObject => ({
  version: 3,
  plugins: {
    'io.containerd.cri.v1.images': { pinned_images: { sandbox: pauseImage(inventory) }, registry },
    'io.containerd.cri.v1.runtime': { ...labels(inventory), containerd: runtimes(inventory) },
  },
});

/** containerd's settings for the major that the inventory names, the user's own merged over them. */
const settings = (inventory: Inventory): JsonObject =>
  merged(
    inventory.runtime.version.startsWith('1.') ? ofMajor1(inventory) : ofMajor2(inventory),
    inventory.runtime.config,
  );

/** containerd's whole configuration. Never made from `containerd config default`, which may disable CRI. */
export const containerdConfig = (inventory: Inventory): string => stringify(settings(inventory));

/** The tables of all handlers in a configuration of either major; undefined if it has none. */
export const handlersIn = ({ plugins }: { readonly plugins?: unknown }): unknown =>
  valueAt(plugins, 'io.containerd.cri.v1.runtime', 'containerd', 'runtimes') ??
  valueAt(plugins, 'io.containerd.grpc.v1.cri', 'containerd', 'runtimes');

/** The names of all handlers in the configuration that kbuild writes, those of the user's own settings too. */
export const handlerNames = (inventory: Inventory): readonly string[] =>
  Object.keys(handlersIn(settings(inventory)) as JsonObject);

/** The sandbox image that a configuration of either major names; empty if it names none. */
export const sandboxImageIn = ({ plugins }: { readonly plugins?: unknown }): string =>
  textAt(plugins, 'io.containerd.cri.v1.images', 'pinned_images', 'sandbox') ??
  textAt(plugins, 'io.containerd.grpc.v1.cri', 'sandbox_image') ??
  '';

/** The sandbox image of the configuration that kbuild writes. */
export const sandboxImage = (inventory: Inventory): string => sandboxImageIn(settings(inventory));
