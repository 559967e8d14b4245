import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { revealed, type Secret } from '../shell/secret.ts';

/**
 * `sha256:` + hex SHA-256 of a certificate's SubjectPublicKeyInfo (RFC 7469), as kubeadm's discovery hash. Throws on
 * bad PEM.
 */
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

/** The public keys of a PEM text, each with a line end, in their order. A line `# NAME` before a key belongs to it. */
export const publicKeysIn = (pem: string): readonly string[] => (pem.match(PUBLIC_KEY) ?? []).map((one) => `${one}\n`);

/**
 * The fingerprints of all certificates of a PEM text but the first, which is the host's own authority. There are
 * further ones while an authority is rotated.
 */
export const furtherFingerprints = (pem: string): readonly string[] =>
  certificatesIn(pem).slice(1).map(spkiFingerprint);

/** The beginning of a fingerprint, for messages that compare fingerprints. */
export const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 'sha256:'.length + 12);

/** The types that kubeadm's loader of CA keys knows (client-go/util/keyutil). */
const KEY_TYPES: readonly (string | undefined)[] = ['rsa', 'ec'];

/**
 * The reason why a text is not a certificate of a CA; undefined if it is one. Checks the first of several certificates,
 * as kubeadm does.
 */
export function authorityProblem(pem: string): string | undefined {
  try {
    const { ca, subject } = new X509Certificate(pem);
    return ca
      ? undefined
      : `is the certificate of ${subject.replaceAll('\n', ', ')}, which is no CA (basicConstraints)`;
  } catch {
    return 'holds no PEM certificate';
  }
}

/**
 * Why kubeadm cannot use a key with a certificate; undefined if it can, or if the key is empty. The reason never
 * contains a part of the key.
 */
export function keyProblem(pem: string, key: Secret): string | undefined {
  const text = revealed(key);
  if (text === '') return undefined;
  if (/ENCRYPTED/.test(text)) return 'is encrypted; kubeadm needs it plain: decrypt it, e.g. by command:';
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(text);
  } catch {
    return 'holds no PEM private key';
  }
  if (!KEY_TYPES.includes(parsed.asymmetricKeyType))
    return `is of the type ${parsed.asymmetricKeyType ?? 'unknown'}; kubeadm knows RSA and ECDSA`;
  return new X509Certificate(pem).checkPrivateKey(parsed) ? undefined : 'is not the key of this certificate';
}
