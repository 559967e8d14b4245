import { declare, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { bundleOnFailure, dead, kubeconfig, timeout, usual, yes } from '../options.ts';

/** The authorities that kubeadm makes. */
export const AUTHORITIES = ['ca', 'front-proxy-ca', 'etcd-ca'] as const;

export const renewCa = declare({
  name: 'renew-ca',
  summary: 'Give authorities a new end, with the same key: what they have signed stays valid',
  details:
    "Without names, all authorities whose keys are on the control planes. The cluster's CA goes to every host, kubeconfig and pod; controller managers, schedulers, kube-vip and kubelets restart, one control plane at a time, etcd and API servers only for etcd's. No kubeconfig needs to be replaced before the old end. If a key may have been stolen, `kbuild certs rotate-ca` is needed.",
  onHosts: 'changes',
  operand: {
    name: '[names...]',
    summary: 'ca, front-proxy-ca, etcd-ca, as `kbuild certs` calls them',
    completes: AUTHORITIES,
  },
  options: [
    ...usual,
    option('--plan', { summary: 'show what it would change, and change nothing' }),
    option('--again', { summary: 'also those that were renewed within the last day' }),
    dead,
    yes,
    kubeconfig,
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild certs renew-ca', 'kbuild certs renew-ca --plan -i prod.yaml', 'kbuild certs renew-ca ca --yes'],
});

/** The values of its options. */
export type RenewCaOptions = OptionsOf<typeof renewCa>;
