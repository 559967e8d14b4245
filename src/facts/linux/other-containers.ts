import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import type { Probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { ofOtherRuntimes } from './of-other-runtimes.ts';

/**
 * Running containers, counted by namespace, of each runtime that is not the inventory's and that the host's kubelet uses, or that has
 * kbuild's configuration: one that the host changes from. Where the probe of one fails, the fact is unknown.
 */
export const otherContainers = onceForEach(
  (inventory: Inventory): Probe<ReadonlyMap<RuntimeName, ReadonlyMap<string, number>>> =>
    ofOtherRuntimes(
      inventory,
      'containers of other runtimes',
      ({ socket, paths, probes }) => ({
        where: `[ "$runtime_serving" = ${quote(socket)} ] || grep -qsF -- ${quote(OWN_HEADER)} ${quote(paths.config)}`,
        ask: probes.containers.command.script,
      }),
      (answer, { probes }, asked) => probes.containers.parse(answer, asked),
    ),
);
