import { UsageError } from '../errors.ts';
import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  dead,
  hosts,
  kubeconfig,
  option,
  parsedOption,
  timeout,
  usual,
  yes,
} from '../session/options.ts';

export const recoverCerts = declare({
  name: 'recover',
  summary: 'Bring a cluster back whose certificates have expired, over SSH alone',
  details:
    'Kubelets of control planes first, then etcd and the control planes, then the workers. It renews what has ' +
    'ended or ends soon and nothing else; authorities must be valid.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, yes, kubeconfig, bundleOnFailure, timeout],
  examples: ['kbuild certs recover', 'kbuild certs recover -i prod.yaml --yes'],
});

/** The values of its options. */
export type RecoverCertsOptions = OptionsOf<typeof recoverCerts>;

/** The authorities that kubeadm makes. */
const AUTHORITIES = ['ca', 'front-proxy-ca', 'etcd-ca'] as const;

export const renewCa = declare({
  name: 'renew-ca',
  summary: 'Give authorities a new end, with the same key: what they have signed stays valid',
  details:
    "Without names, all authorities whose keys are on the control planes. The cluster's CA goes to every host, " +
    'kubeconfig and pod; controller managers, schedulers, kube-vip and kubelets restart, one control plane at a ' +
    "time, etcd and API servers only for etcd's. No kubeconfig needs to be replaced before the old end. If a key " +
    'may have been stolen, `kbuild certs rotate-ca` is needed.',
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

export const renewCerts = declare({
  name: 'renew',
  summary: 'Renew certificates with new keys, on one control plane after the other',
  details:
    'Without names, those that end soon (`certificates.renewBefore`). It restarts nothing but the controller ' +
    'manager, the scheduler and kube-vip, whose kubeconfigs have theirs inside. It renews no authority, and ' +
    'nothing that a kubelet renews by itself.',
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

/** What it can give a new key. */
const ROTATED = [...AUTHORITIES, 'sa'] as const;

/** `trust` or `sign`. @throws UsageError */
function part(text: string): 'trust' | 'sign' {
  if (text === 'trust' || text === 'sign') return text;
  throw new UsageError('trust or sign is needed');
}

export const rotateCa = declare({
  name: 'rotate-ca',
  summary: 'Replace an authority by one with a new key, or the key of service accounts',
  details:
    'Three parts, each asked about by itself: hosts, kubeconfigs and pods **trust** both authorities; the new ' +
    'one **signs** everything again; the old one goes (**drop**). Until the last part begins, `--rollback` takes ' +
    'it back. The same command goes on where a run was cut off. Clients outside the cluster need the kubeconfig ' +
    'that the first part writes before the second begins: `--until trust` leaves them time. See ' +
    '[operations](operations.md#a-new-certificate-authority), for `sa` [the key of service ' +
    'accounts](operations.md#the-key-of-service-accounts).',
  onHosts: 'changes',
  operand: {
    name: '[authority]',
    summary:
      'ca (default), front-proxy-ca or etcd-ca, as `kbuild certs` calls them, or sa: the key of service accounts',
    completes: ROTATED,
  },
  options: [
    ...usual,
    option('--plan', { summary: 'show what it would change, and change nothing' }),
    parsedOption('--until <part>', part, {
      summary: 'end after this part: trust or sign; the same command goes on from there',
    }),
    option('--rollback', { summary: 'go back to the old authority', conflicts: 'until' }),
    option('--again', { summary: 'also if the authority is from a rotation of the last day' }),
    option('--leave-workloads', {
      summary: 'restart no workloads; name the pods that may know the old CA alone, or have older tokens',
    }),
    option('--leave-tokens', {
      summary: 'of sa: go on while Secrets hold tokens of the key that goes; the API refuses these from then on',
    }),
    dead,
    yes,
    kubeconfig,
    bundleOnFailure,
    timeout,
  ],
  examples: [
    'kbuild certs rotate-ca --plan',
    'kbuild certs rotate-ca --until trust',
    'kbuild certs rotate-ca',
    'kbuild certs rotate-ca --rollback -i prod.yaml',
    'kbuild certs rotate-ca sa',
  ],
});

/** The values of its options. */
export type RotateCaOptions = OptionsOf<typeof rotateCa>;

export const certs = declare({
  name: 'certs',
  summary: 'Show every certificate of the cluster: its host, subject, end, and what renews it',
  details:
    'Exit 5 when one has expired, 3 when those of a host are not known. `kbuild certs renew` renews them, see ' +
    '[operations](operations.md#certificates).',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    option('--metrics <file>', {
      summary: "also write them in Prometheus' text format, for node_exporter's textfile collector",
      details: 'The file takes its place whole, mode 0644.',
    }),
  ],
  examples: ['kbuild certs', 'kbuild certs --json', 'kbuild certs --metrics /var/lib/node_exporter/kbuild.prom'],
});

/** The values of its options. */
export type CertsOptions = OptionsOf<typeof certs>;
