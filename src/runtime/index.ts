import { runtimesInUse } from '../components/runtimes/index.ts';
import { watchesOf, type Step } from '../engine/step.ts';
import type { Inventory, RuntimeName } from '../model/inventory.ts';
import { containerd } from './containerd.ts';
import { crio } from './crio.ts';
import { docker } from './docker.ts';
import { containerPolicy } from './selinux.ts';
import { atSystemRuntime, watchingRuntime } from './version.ts';

const STEPS: Readonly<Record<RuntimeName, readonly Step[]>> = { containerd, crio, docker };

/** A step that only hosts with this runtime take. */
const onlyWith = (name: RuntimeName, step: Step): Step => ({
  ...step,
  watches: (about) => (about.inventory.runtime.name === name ? watchesOf(step, about) : {}),
  diff: (target) => (target.inventory.runtime.name === name ? step.diff(target) : []),
});

/** A step that takes the runtime of the host's own system where the inventory's repositories have none for it. */
const onHostsSystem = (step: Step): Step =>
  watchingRuntime({
    ...step,
    diff: (target) => step.diff({ ...target, inventory: atSystemRuntime(target.inventory, target) }),
  });

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
