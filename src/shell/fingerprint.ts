import { createHash, X509Certificate } from 'node:crypto';

/** `sha256:` + hex SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469), as kubeadm's discovery hash. Throws on bad PEM. */
export function spkiFingerprint(pem: string): string {
  const der = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(der).digest('hex')}`;
}

/** The beginning of a fingerprint, for messages that set one beside another. */
export const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 'sha256:'.length + 12);
