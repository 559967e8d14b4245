import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { connecting, everywhere, quiet } from '../options.ts';

export const kubeconfig = declare({
  name: 'kubeconfig',
  summary: 'Print an admin kubeconfig, or merge it into a file',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...everywhere,
    quiet,
    ...connecting,
    option('--merge <path>', { summary: 'merge it into this file instead of printing it' }),
  ],
  examples: ['kbuild kubeconfig > admin.conf', 'kbuild kubeconfig --merge ~/.kube/config'],
});

/** The values of its options. */
export type KubeconfigOptions = OptionsOf<typeof kubeconfig>;
