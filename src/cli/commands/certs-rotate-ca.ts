import { declare, type OptionsOf } from '../command.ts';
import { option, parsedOption } from '../option.ts';
import { bundleOnFailure, dead, kubeconfig, timeout, usual, yes } from '../options.ts';
import { UsageError } from '../../errors.ts';
import { AUTHORITIES } from './certs-renew-ca.ts';

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
    'Three parts, each asked about by itself: hosts, kubeconfigs and pods **trust** both authorities; the new one **signs** everything anew; the old one goes (**drop**). Until the last part begins, `--rollback` takes it back. The same command goes on where a run was cut off. Clients outside the cluster need the kubeconfig that the first part writes before the second begins: `--until trust` leaves them time. See [operations](operations.md#a-new-certificate-authority), for `sa` [the key of service accounts](operations.md#the-key-of-service-accounts).',
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
