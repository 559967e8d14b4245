import { stringify } from 'smol-toml';
import type { Inventory, JsonObject } from '../../model/inventory.ts';
import { merged } from '../../model/merge.ts';
import { pauseImage } from './pause-image.ts';
import { textAt } from './toml.ts';

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

/** containerd's settings for the major that the inventory names, the user's own merged over them. */
const settings = (inventory: Inventory): JsonObject =>
  merged(
    inventory.runtime.version.startsWith('1.') ? ofMajor1(inventory) : ofMajor2(inventory),
    inventory.runtime.config,
  );

/** containerd's whole configuration. Never made from `containerd config default`, which may disable CRI. */
export const containerdConfig = (inventory: Inventory): string => stringify(settings(inventory));

/** The sandbox image that a configuration of either major names; empty if it names none. */
export const sandboxImageIn = ({ plugins }: { readonly plugins?: unknown }): string =>
  textAt(plugins, 'io.containerd.cri.v1.images', 'pinned_images', 'sandbox') ??
  textAt(plugins, 'io.containerd.grpc.v1.cri', 'sandbox_image') ??
  '';

/** The sandbox image of the configuration that kbuild writes. */
export const sandboxImage = (inventory: Inventory): string => sandboxImageIn(settings(inventory));
