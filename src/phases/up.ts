import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanePhases } from './control-plane.ts';
import { dnsPhases } from './dns.ts';
import { etcdPhases } from './etcd.ts';
import { joinPhases } from './join.ts';
import { nodePhases } from './nodes.ts';
import { preparePhases } from './prepare.ts';
import { runtimePhases, verifiedAfterRuntime } from './runtime.ts';
import { windowsRuntimePhases } from './windows.ts';
import { verifyPhases } from './verify.ts';

/**
 * What `kbuild up` does, in order. Each host goes through the phases up to `settings` at its own pace,
 * so `kubeadm init` runs on the first control plane while workers still install packages and pull images. Then control
 * planes join one after another, while workers join and the pod network starts.
 *
 * Calls `before` before every change of etcd's members, and `keep` before it undoes a half-finished init, join or reset.
 */
export function up(
  inventory: Inventory,
  before: BeforeMembership = () => Promise.resolve(),
  keep: KeepData = () => Promise.resolve(),
): readonly Phase[] {
  return [
    ...preparePhases(inventory),
    ...etcdPhases(inventory, before, keep),
    ...controlPlanePhases(inventory, before, keep),
    ...joinPhases(inventory, before, keep),
    ...nodePhases(inventory),
    ...runtimePhases(inventory),
    ...windowsRuntimePhases(inventory),
    ...verifiedAfterRuntime(verifyPhases(inventory)),
    ...dnsPhases(inventory),
  ];
}
