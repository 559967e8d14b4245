import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { spkiFingerprint } from '../../src/certificates/fingerprint.value.ts';
import { removeMembers } from '../../src/cluster/members.ts';
import { FactError, Refused } from '../../src/errors.ts';
import { authoritiesIn, parseSnapshotStatus, saveSnapshot } from '../../src/etcd/snapshot.ts';
import { cp1, cp2, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const STATUS = '{"hash":1,"revision":1439,"totalKey":465,"totalSize":2658304,"version":"3.6.0"}';

/** An authority for tests: self-signed, and its key thrown away. */
const CA = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUFQqVw6rGmZ3kWQm7V5bqv1p0N7EwCgYIKoZIzj0EAwIw
-----END CERTIFICATE-----`;

describe('a snapshot', () => {
  test('has the status that etcdutl reports; any other output is an error', () => {
    expect(parseSnapshotStatus(`Snapshot saved\n${STATUS}\n`)).toEqual({
      revision: 1439,
      keys: 465,
      size: 2_658_304,
      version: '3.6.0',
    });
    expect(() => parseSnapshotStatus('Error: no such file')).toThrow();
    expect(() => parseSnapshotStatus('{}')).toThrow('etcdutl did not report');
  });

  test('is fetched, and nothing of it stays on the host, also when etcd gives none', async () => {
    const { on, sent } = recordingOn({ job: () => STATUS });
    await saveSnapshot(inventoryOf(), on(cp1), '/var/lib/etcd', '/tmp/x.db', 'run1');
    expect(sent.map(({ kind }) => kind)).toEqual(['job', 'download', 'run']);
    const failing = recordingOn({ job: () => 'nothing' });
    await expect(saveSnapshot(inventoryOf(), failing.on(cp1), '/var/lib/etcd', '/tmp/x.db', 'run1')).rejects.toThrow();
    expect(failing.sent.map(({ kind }) => kind)).toEqual(['job', 'run']);
  });

  test('without a complete certificate belongs to no cluster', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'kbuild-test-')), 'snapshot.db');
    writeFileSync(path, `\0\x01${CA}\0 and -----BEGIN CERTIFICATE----- that never ends`);
    expect(() => spkiFingerprint(CA)).toThrow();
    expect([...(await authoritiesIn(path))]).toEqual([]);
  });
});

describe('a member is removed', () => {
  const view = (members: string, health: string) =>
    `members {"members":[${members}]}\nhealth [${health}]\nstatus []\nalarms {}\n`;
  const member = (n: number) =>
    `{"ID":${String(n)},"name":"cp${String(n)}","peerURLs":["https://10.0.0.1${String(n)}:2380"],"clientURLs":["https://10.0.0.1${String(n)}:2379"]}`;
  const healthy = (n: number) => `{"endpoint":"https://10.0.0.1${String(n)}:2379","health":true}`;

  test('through the gate, with what etcd says at that moment, until it is gone', async () => {
    const answers = [
      view([1, 2, 3].map(member).join(), [1, 2, 3].map(healthy).join()),
      '',
      view([1, 3].map(member).join(), [1, 3].map(healthy).join()),
    ];
    const { on, sent } = recordingOn({ run: () => answers.shift()! });
    await removeMembers(inventoryOf(), on(cp1), cp2);
    expect(sent).toHaveLength(3);
    expect((sent[1] as { readonly script: string }).script).toContain('ID=2\n');
  });

  test('not when quorum would be lost by now', async () => {
    const { on, sent } = recordingOn({ run: () => view([1, 2, 3].map(member).join(), [1, 2].map(healthy).join()) });
    await expect(removeMembers(inventoryOf(), on(cp1), cp2)).rejects.toThrow(Refused);
    expect(sent).toHaveLength(1);
  });

  test('not when etcd does not answer', async () => {
    const { on } = recordingOn({ run: () => 'members \nhealth \nstatus \nalarms \n' });
    await expect(removeMembers(inventoryOf(), on(cp1), cp2)).rejects.toThrow(FactError);
  });
});
