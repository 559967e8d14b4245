import { X509Certificate } from 'node:crypto';
import { spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { canonical } from '../inventory/addresses.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { clockOf, probeInPlace, timeOf } from '../shell/probe.ts';
import { script } from '../templates.ts';

/** One certificate that etcd's authority signs. */
interface EtcdCertificate {
  readonly name: string;
  /** True if its private key is in the same folder. */
  readonly hasKey: boolean;
  /** True if the authority on the same host signed it. */
  readonly isIssued: boolean;
  /** Milliseconds since the epoch. */
  readonly beginsMs: number;
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** Addresses and names for which it is valid. */
  readonly names: readonly string[];
}

/** etcd's certificates on a host. */
export interface EtcdPki {
  /** The host's clock, ms since the epoch. */
  readonly nowMs: number;
  /** True if a run was interrupted while it signed: certificates and keys may not belong together. */
  readonly isUnfinished: boolean;
  /** Fingerprint of etcd's authority; `absent` if the host has none. */
  readonly authority: string;
  readonly certificates: readonly EtcdCertificate[];
}

/** Staging folder for new certificates. */
export const ETCD_SIGNING = '/etc/kubernetes/pki/etcd/kbuild-signing';

function certificateOf(block: string, authority: X509Certificate | undefined): EtcdCertificate {
  const [head = '', ...pem] = block.split('\n');
  const [name = '', key] = head.split(' ');
  const found = new X509Certificate(pem.join('\n'));
  return {
    name,
    hasKey: key === 'key',
    isIssued: authority !== undefined && found.checkIssued(authority) && found.verify(authority.publicKey),
    beginsMs: timeOf(found.validFrom),
    expiresMs: timeOf(found.validTo),
    names: (found.subjectAltName ?? '').split(', ').map((one) => canonical(one.replace(/^(?:DNS|IP Address):/, ''))),
  };
}

/**
 * Public parts of etcd's certificates on the hosts of an etcd that kbuild builds, and on the control planes that use
 * it; `not asked` on all others.
 */
export function etcdPki({ etcd }: Inventory, host: LinuxHost) {
  const leaves = { etcd: ['server', 'peer', 'healthcheck-client'], 'control-plane': ['apiserver-etcd-client'] };
  const wanted =
    etcd.topology === 'built' && (host.role === 'etcd' || host.role === 'control-plane') ? leaves[host.role] : [];
  return probeInPlace(
    script('etcd/probe-etcd-pki.sh', { WANTED: wanted.join(' '), ETCD_CA: paths.etcdCa, SIGNING: ETCD_SIGNING }),
    (out): EtcdPki | 'not asked' => {
      if (out.trim() === 'not asked') return 'not asked';
      const [head = '', ...blocks] = out.split(/^certificate /m);
      const ca = blocks.find((block) => block.startsWith('ca '))?.replace(/^.*\n/, '');
      const authority = ca === undefined ? undefined : new X509Certificate(ca);
      return {
        nowMs: clockOf(head.split('\n', 1)[0]!),
        isUnfinished: head.includes('unfinished'),
        authority: ca === undefined ? 'absent' : spkiFingerprint(ca),
        certificates: blocks
          .filter((block) => !block.startsWith('ca '))
          .map((block) => certificateOf(block, authority)),
      };
    },
  );
}
