import { stringify } from 'smol-toml';
import type { Inventory, JsonObject } from '../../model/inventory.ts';
import { merged } from '../../model/merge.ts';
import { pauseImage } from './pause-image.ts';

/** Folder of containerd's settings for registries. */
export const CERTS_D = '/etc/containerd/certs.d';

const runc = ({ runtime }: Inventory): JsonObject => ({
  runtime_type: 'io.containerd.runc.v2',
  options: { SystemdCgroup: runtime.cgroupDriver === 'systemd' },
});

const registry: JsonObject = { config_path: CERTS_D };

/** Version 2, which 1.x understands at most. */
const ofMajor1 = (inventory: Inventory): JsonObject => ({
  version: 2,
  plugins: {
    'io.containerd.grpc.v1.cri': {
      sandbox_image: pauseImage(inventory),
      registry,
      containerd: { default_runtime_name: 'runc', runtimes: { runc: runc(inventory) } },
    },
  },
});

/** Version 3, which every 2.x understands; version 4 fails on 2.2 and older. */
const ofMajor2 = (inventory: Inventory): JsonObject => ({
  version: 3,
  plugins: {
    'io.containerd.cri.v1.images': { pinned_images: { sandbox: pauseImage(inventory) }, registry },
    'io.containerd.cri.v1.runtime': {
      containerd: { default_runtime_name: 'runc', runtimes: { runc: runc(inventory) } },
    },
  },
});

/** containerd's settings for the major that the inventory names, the user's own laid over them. */
const settings = (inventory: Inventory): JsonObject =>
  merged(
    inventory.runtime.version.startsWith('1.') ? ofMajor1(inventory) : ofMajor2(inventory),
    inventory.runtime.config,
  );

/** containerd's whole configuration. Never made from `containerd config default`, which may disable CRI. */
export const containerdConfig = (inventory: Inventory): string => stringify(settings(inventory));

const at = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((found, key) => (found as JsonObject | undefined)?.[key], value);

/** The sandbox image that the configuration names: the pause image, or the one in the user's own settings. */
export function sandboxImage(inventory: Inventory): string {
  const plugins = settings(inventory)['plugins'];
  const image =
    at(plugins, 'io.containerd.cri.v1.images', 'pinned_images', 'sandbox') ??
    at(plugins, 'io.containerd.grpc.v1.cri', 'sandbox_image');
  return typeof image === 'string' ? image : '';
}
