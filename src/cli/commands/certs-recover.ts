import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { bundleOnFailure, kubeconfig, timeout, usual, yes } from '../options.ts';

export const recoverCerts = declare({
  name: 'recover',
  summary: 'Bring a cluster back whose certificates have expired, over SSH alone',
  details:
    'Kubelets of control planes first, then etcd and the control planes, then the workers. It renews what has ended or ends soon and nothing else; authorities must be valid.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, yes, kubeconfig, bundleOnFailure, timeout],
  examples: ['kbuild certs recover', 'kbuild certs recover -i prod.yaml --yes'],
});

/** The values of its options. */
export type RecoverCertsOptions = OptionsOf<typeof recoverCerts>;
