import { keyFingerprints } from '../../shell/openpgp.ts';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** The given key files by path: fingerprints of all their primary keys; none for a file that is absent or no key file. */
export const keyrings = (paths: readonly string[]) =>
  probe(
    sh`for path in ${paths}; do if [ -f "$path" ]; then echo "$(base64 -w 0 "$path") $path"; fi; done`,
    (out): ReadonlyMap<string, readonly string[]> =>
      new Map(
        lines(out).map((line) => {
          const [data, path] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
          try {
            return [path, keyFingerprints(Buffer.from(data, 'base64'))];
          } catch {
            return [path, []];
          }
        }),
      ),
  );
