import { containerRuntime, otherRuntime } from '../components/runtimes/index.ts';
import { Refused } from '../errors.ts';
import type { Observed } from '../facts/fleet.ts';
import { hasKubelet } from '../facts/joined.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import type { Inventory } from '../model/inventory.ts';

/**
 * Why no command may change a joined host whose kubelet uses another container runtime than the inventory asks for: `up` would
 * install a second one beside it, and `remove` and `reset` would leave the containers of the first one running. undefined if it is
 * the same, or one that kbuild does not know. Throws `FactError` when a fact that it needs is unknown.
 */
export function runtimeRefusal(inventory: Inventory, { os, host, facts }: Observed): Refused | undefined {
  if (os === 'windows' || !hasKubelet(facts)) return undefined;
  const found = otherRuntime(inventory, host, facts.kubeletRuntime);
  if (found === undefined || typeof found === 'string') return undefined;
  const { title } = containerRuntime(inventoryOn(inventory, host));
  return new Refused(
    host.name,
    `its kubelet uses ${found.title}, the inventory asks for ${title}, and kbuild does not change the runtime of a joined host`,
    `set runtime.name back to ${found.name}; to change it, run \`kbuild remove ${host.name}\` before you edit it: \`kbuild up\` adds the host again with ${title}`,
  );
}
