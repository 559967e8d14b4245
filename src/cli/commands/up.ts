import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, hosts, ignoreCheck, kubeconfig, phase, timeout, usual, yes } from '../options.ts';

export const up = declare({
  name: 'up',
  summary: 'Build or change the cluster: check, plan, ask, lock, apply, verify',
  details: 'Writes `./<name>.kubeconfig`.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, hosts, phase, dead, ignoreCheck, yes, kubeconfig, bundleOnFailure, timeout],
  examples: ['kbuild up', 'kbuild up --yes', "kbuild up --hosts 'w*'", 'kbuild up --dead cp2'],
});

/** The values of its options. */
export type UpOptions = OptionsOf<typeof up>;
