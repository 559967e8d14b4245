import { windowsSignatures } from '../windows/signatures.ts';
import { kubeadmSignatures } from './signatures/kubeadm.ts';
import { packageSignatures } from './signatures/packages.ts';
import type { Signature } from './signatures/signature.ts';
import { surroundingsSignatures } from './signatures/surroundings.ts';

/**
 * Known failures, the most telling first. Sources: kubeadm, kubelet, the container runtime, etcd and package managers as they print in
 * English (LC_ALL=C).
 */
export const signatures: readonly Signature[] = [
  ...kubeadmSignatures,
  ...packageSignatures,
  ...windowsSignatures.flatMap(({ name, said, cause, remedy }) =>
    said === undefined ? [] : [{ name: `windows-${name}`, seen: said, cause, remedy }],
  ),
  ...surroundingsSignatures,
];

/**
 * Characters of a line that are searched. The patterns search for several words in one line, so that the time grows with the
 * square of its length.
 */
const SEARCHED = 2000;

const cutLines = (text: string): string =>
  text.length <= SEARCHED
    ? text
    : text
        .split('\n')
        .map((line) => line.slice(0, SEARCHED))
        .join('\n');

/** kubeadm prints warnings that are not the cause of its failure. */
const withoutWarnings = (text: string): string => cutLines(text).replaceAll(/^[ \t]*\[WARNING .*$/gm, '');

/**
 * The known cause of a failure: the first signature that the texts, taken in their order, show. A cause in the last text
 * comes before a symptom in the first: the journal of a kubelet that does not answer holds the reason.
 */
export function diagnosis(texts: readonly string[]): Signature | undefined {
  const shown = texts.map(withoutWarnings).flatMap((text) => signatures.filter(({ seen }) => seen.test(text)));
  return shown.find(({ symptom }) => symptom !== true) ?? shown[0];
}
