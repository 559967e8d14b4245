import { when, where, withInventory } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { SELINUX_POLICY, selinuxPolicy } from '../host/kernel.value.ts';
import { packages } from '../host/packages/packages.step.ts';
import type { Inventory, RuntimeName } from '../inventory/inventory.ts';
import { containerd } from './containerd.step.ts';
import { crio } from './crio.step.ts';
import { docker } from './docker.step.ts';
import { runtimesInUse } from './runtimes.value.ts';
import { atSystemRuntime, watchingRuntime } from './version.step.ts';

const policy = packages(SELINUX_POLICY, () => ({ [SELINUX_POLICY]: 'any' }));

/**
 * Installs SELinux' policy for containers before the runtime confines them. The check selinux reports hosts for which
 * there is none.
 */
const containerPolicy: Step = where(
  ({ inventory }) => inventory.runtime.selinux,
  when((target) => selinuxPolicy(target) === 'package', policy),
);

const STEPS: Readonly<Record<RuntimeName, readonly Step[]>> = { containerd, crio, docker };

/** A step for hosts with this runtime only. */
const onlyWith = (name: RuntimeName, step: Step): Step =>
  where(({ inventory }) => inventory.runtime.name === name, step);

/** A step that takes the runtime of the host's own system where the inventory's repositories have none for it. */
const onHostsSystem = (step: Step): Step =>
  watchingRuntime(withInventory(step, (target) => atSystemRuntime(target.inventory, target)));

/** Installs and configures the container runtime of each host. */
export function runtimeSteps(inventory: Inventory): readonly Step[] {
  const names = runtimesInUse(inventory);
  return [
    containerPolicy,
    ...names
      .flatMap((name) => (names.length === 1 ? STEPS[name] : STEPS[name].map((step) => onlyWith(name, step))))
      .map(onHostsSystem),
  ];
}

/** Name of the step that installs the runtime's package. */
export const runtimePackageStep = ({ runtime }: Pick<Inventory, 'runtime'>): string => `${runtime.name}-package`;
