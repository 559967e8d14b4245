import { describe, expect, test } from 'vitest';
import { noTrustedCas, trustedCas } from '../../src/host/trusted-cas.step.ts';
import { paths } from '../../src/paths.ts';
import { sha256Of } from '../../src/shell/secret.ts';
import { filesWith } from '../fakes/files.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const FILE = `/usr/local/share/ca-certificates/kbuild-${sha256Of(PEM).slice(0, 16)}.crt`;
const of = (trustedCasOfHost: readonly string[]) => ({
  inventory: inventory({ hosts: [linuxHost('w1', { trustedCas: trustedCasOfHost })] }),
});
const summaries = (found: Readonly<Record<string, string>>, wanted: readonly string[], step = trustedCas) =>
  step.diff(target({ files: filesWith(found) }, of(wanted))).map(({ summary }) => summary);

describe('authorities that the inventory trusts', () => {
  test('are written to the store of the system, which is made anew', async () => {
    const { on, sent } = recordingOn();
    const [change] = trustedCas.diff(target({}, of([PEM])));
    expect(change?.summary).toBe(`trust ${FILE} (found 1 missing)`);
    await change?.apply?.(on);
    expect(sent).toMatchObject([
      { kind: 'write', path: paths.trustedCas, content: 'begun\n' },
      { kind: 'write', path: FILE, content: PEM },
      { kind: 'run', title: 'host/trusted-cas.sh' },
    ]);
    expect(sent[2]).toMatchObject({ script: expect.stringContaining('UPDATE=update-ca-certificates') as string });
  });

  test('need nothing when the store was made of them', () =>
    expect(summaries({ [FILE]: PEM, [paths.trustedCas]: `${FILE}\n` }, [PEM])).toEqual([]));

  test('are pending while the run that wrote the files was cut off before the store was made', () =>
    expect(summaries({ [FILE]: PEM }, [PEM])).toEqual([`trust ${FILE} (found others)`]));

  test('go when a run that was cut off had begun to write them, and the inventory has none any more', () =>
    expect(summaries({ [FILE]: PEM, [paths.trustedCas]: 'begun\n' }, [])).toEqual([
      "take kbuild's certificate authorities out of the system's store",
    ]));

  test('go when they leave the inventory, and at a reset', () => {
    const found = { [FILE]: PEM, [paths.trustedCas]: `${FILE}\n` };
    expect(summaries(found, [])).toEqual(["take kbuild's certificate authorities out of the system's store"]);
    expect(summaries(found, [PEM], noTrustedCas)).toHaveLength(1);
    expect(summaries({}, [])).toEqual([]);
  });
});
