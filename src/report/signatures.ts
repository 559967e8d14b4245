import { kubeadmSignatures } from './signatures/kubeadm.ts';
import { packageSignatures } from './signatures/packages.ts';
import type { Signature } from './signatures/signature.ts';
import { surroundingsSignatures } from './signatures/surroundings.ts';
import { windowsSaid } from './signatures/windows.ts';

/**
 * Known failures, the most telling first. Sources: kubeadm, kubelet, containerd, etcd, apt and dpkg as they print in
 * English (LC_ALL=C).
 */
export const signatures: readonly Signature[] = [
  ...kubeadmSignatures,
  ...packageSignatures,
  ...windowsSaid,
  ...surroundingsSignatures,
];

/** kubeadm warns of much that is not why it failed. */
const withoutWarnings = (text: string): string => text.replaceAll(/^\s*\[WARNING .*$/gm, '');

/** The known cause of a failure: the first signature that the texts, taken in their order, show. */
export function diagnosis(texts: readonly string[]): Signature | undefined {
  for (const text of texts.map(withoutWarnings)) {
    const found = signatures.find(({ seen }) => seen.test(text));
    if (found !== undefined) return found;
  }
  return undefined;
}
