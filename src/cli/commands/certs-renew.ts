import { declare, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { bundleOnFailure, hosts, kubeconfig, timeout, usual, yes } from '../options.ts';

export const renewCerts = declare({
  name: 'renew',
  summary: 'Renew certificates with new keys, on one control plane after the other',
  details:
    'Without names, those that end soon (`certificates.renewBefore`). It restarts nothing but the controller manager, the scheduler and kube-vip, whose kubeconfigs have theirs inside. It renews no authority, and nothing that a kubelet renews by itself.',
  onHosts: 'changes',
  operand: {
    name: '[names...]',
    summary: 'certificates by the names of `kubeadm certs renew`, e.g. apiserver',
    completes: 'certificates',
  },
  options: [
    ...usual,
    hosts,
    option('--all', { summary: 'renew every certificate, however much time is left' }),
    yes,
    kubeconfig,
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild certs renew', 'kbuild certs renew --all', 'kbuild certs renew apiserver -i prod.yaml --hosts cp1'],
});

/** The values of its options. */
export type RenewCertsOptions = OptionsOf<typeof renewCerts>;
