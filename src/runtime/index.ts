import type { Step } from '../engine/step.ts';
import type { Inventory, RuntimeName } from '../model/inventory.ts';
import { containerd } from './containerd.ts';
import { crio } from './crio.ts';

const STEPS: Readonly<Record<RuntimeName, readonly Step[]>> = { containerd, crio };

/** Installs and configures the container runtime of the inventory. */
export const runtimeSteps = ({ runtime }: Inventory): readonly Step[] => STEPS[runtime.name];

/** Name of the step that installs the runtime's package. */
export const runtimePackageStep = ({ runtime }: Pick<Inventory, 'runtime'>): string => `${runtime.name}-package`;
