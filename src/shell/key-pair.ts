import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { revealed, type Secret } from './secret.ts';

/** The types that kubeadm's loader of CA keys knows (client-go/util/keyutil). */
const KEY_TYPES: readonly (string | undefined)[] = ['rsa', 'ec'];

/** Why a text is no certificate of a CA; undefined if it is. Of several certificates the first counts, as for kubeadm. */
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

/** Why kubeadm cannot use a key with a certificate; undefined if it can, or if the key is empty. Shows nothing of the key. */
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
