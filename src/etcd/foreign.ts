import { createReadStream } from 'node:fs';
import { spkiFingerprint } from '../shell/fingerprint.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
/** Upper limit for the PEM text of a certificate authority, in characters. */
const LONGEST = 16_384;

/**
 * Fingerprints of all certificates that a snapshot contains in plain text. Kubernetes stores its CA in a ConfigMap of every
 * namespace (kube-root-ca.crt), so they show of which cluster the snapshot is.
 */
export async function authoritiesIn(snapshot: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const known = new Set<string>();
  let rest = '';
  for await (const chunk of createReadStream(snapshot, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
    const text = rest + (chunk as string);
    let from = 0;
    for (;;) {
      const begin = text.indexOf(BEGIN, from);
      const end = begin === -1 ? -1 : text.indexOf(END, begin);
      if (begin === -1 || end === -1) break;
      const pem = text.slice(begin, end + END.length);
      from = begin + BEGIN.length;
      if (pem.length > LONGEST || known.has(pem)) continue;
      known.add(pem);
      // JSON strings have \n for line ends.
      const plain = `${pem.replaceAll(String.raw`\n`, '\n')}\n`;
      try {
        found.add(spkiFingerprint(plain));
      } catch {
        // A page of the file ended inside this copy. Other copies are complete.
      }
    }
    rest = text.slice(-LONGEST);
  }
  return found;
}
