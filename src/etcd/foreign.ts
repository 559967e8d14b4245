import { createReadStream } from 'node:fs';
import { spkiFingerprint } from '../shell/fingerprint.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
/** A certificate authority's PEM text is shorter. */
const LONGEST = 16_384;

/**
 * Fingerprints of all certificates that lie in a snapshot in plain text: Kubernetes keeps its CA in ConfigMaps of every
 * namespace (kube-root-ca.crt), so a snapshot tells itself whose it is.
 */
export async function authoritiesIn(snapshot: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const seen = new Set<string>();
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
      if (pem.length > LONGEST || seen.has(pem)) continue;
      seen.add(pem);
      // Inside JSON strings line ends are written \n.
      const plain = `${pem.replaceAll(String.raw`\n`, '\n')}\n`;
      try {
        found.add(spkiFingerprint(plain));
      } catch {
        // A page of the file ended within it; others of it are whole.
      }
    }
    rest = text.slice(-LONGEST);
  }
  return found;
}
