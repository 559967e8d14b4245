import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { revealed, type Secret } from './secret.ts';

/** What kubeadm's loader of CA keys knows (client-go/util/keyutil). */
const KEY_TYPES: readonly (string | undefined)[] = ['rsa', 'ec'];

/** Why a text is no certificate of a CA; undefined when it is. Of several certificates the first counts, as for kubeadm. */
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
 * Why a key is not that of a certificate, or of no use to kubeadm; undefined when it is, and where
 * it is empty: it was not asked for. Shows nothing of it.
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
