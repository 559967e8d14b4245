import { createHash, X509Certificate, type KeyObject } from 'node:crypto';

/** `sha256:` + hex SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469), as kubeadm's discovery hash. Throws on bad PEM. */
export const spkiFingerprint = (pem: string): string => keyFingerprint(new X509Certificate(pem).publicKey);

/** `sha256:` + hex SHA-256 of a public key's SubjectPublicKeyInfo. */
export const keyFingerprint = (key: KeyObject): string =>
  `sha256:${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')}`;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, each of them with a line end, in their order. */
export const certificatesIn = (pem: string): readonly string[] =>
  (pem.match(CERTIFICATE) ?? []).map((one) => `${one}\n`);

const PUBLIC_KEY = /(?:^# \S+\n)?^-----BEGIN ((?:RSA )?PUBLIC KEY)-----[^-]+-----END \1-----/gm;

/** The public keys of a PEM text, each of them with a line end, in their order; a line before one that names it (`# NAME`) belongs to it. */
export const publicKeysIn = (pem: string): readonly string[] => (pem.match(PUBLIC_KEY) ?? []).map((one) => `${one}\n`);

/** The fingerprints of all certificates of a PEM text but the first, which is the host's own authority: it is several while an authority is rotated. */
export const furtherFingerprints = (pem: string): readonly string[] =>
  certificatesIn(pem).slice(1).map(spkiFingerprint);

/** The beginning of a fingerprint, for messages that set one beside another. */
export const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 'sha256:'.length + 12);
