import { X509Certificate } from 'node:crypto';
import { probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/** A certificate on a host. kbuild reads only its public part. */
export interface Certificate {
  /**
   * Its name in kubeadm (`apiserver`, `etcd-server`, `admin.conf`); authorities `ca`, `etcd-ca`, `front-proxy-ca`; of
   * the kubelet `kubelet-client`, `kubelet-server` (signed by the cluster) and `kubelet` (which it made for itself).
   */
  readonly name: string;
  /** ISO 8601. */
  readonly begins: string;
  /** ISO 8601. */
  readonly expires: string;
  /** Hexadecimal. It differs from the serial number of the certificate before a renewal. */
  readonly serial: string;
  /** Common name, or the whole subject if it has no common name. */
  readonly subject: string;
  /** Common name of its authority. */
  readonly issuer: string;
  /** DNS names and addresses for which it is valid. */
  readonly names: readonly string[];
}

const commonName = (lines: string): string => /^CN=(.*)$/m.exec(lines)?.[1] ?? lines.replaceAll('\n', ', ');

/** DNS names and addresses of a certificate. */
const namesOf = ({ subjectAltName }: X509Certificate): readonly string[] =>
  (subjectAltName ?? '').split(', ').flatMap((one) => /^(?:DNS|IP Address):(.+)$/.exec(one)?.[1] ?? []);

function certificateOf(block: string): Certificate {
  const text = block.slice(block.indexOf('\n') + 1);
  // A kubeconfig has it in base64.
  const found = new X509Certificate(text.includes('-BEGIN ') ? text : Buffer.from(text, 'base64'));
  return {
    name: block.slice(0, block.indexOf('\n')),
    begins: new Date(found.validFrom).toISOString(),
    expires: new Date(found.validTo).toISOString(),
    serial: found.serialNumber,
    subject: commonName(found.subject),
    issuer: commonName(found.issuer),
    names: namesOf(found),
  };
}

/** Certificates that kubeadm and the kubelet keep on the host. */
export const certificates = probeInPlace(script('certificates/probe-certificates.sh'), (out): readonly Certificate[] =>
  out
    .split(/^certificate /m)
    .slice(1)
    .map(certificateOf),
);
