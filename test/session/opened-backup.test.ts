// @module-tag openssl
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeEach, describe, expect, test } from 'vitest';
import { SNAPSHOT } from '../../src/backup/manifest.ts';
import { isBackup, withOpenedBackup } from '../../src/commands/backup-file.ts';
import { Refused, UsageError } from '../../src/errors.ts';
import { inventoryTexts } from '../../src/inventory/file/load.ts';
import type { Context } from '../../src/session/context.ts';
import { backupFile, manifestOf, partsOf, plainBackup } from '../fakes/backup.ts';

let folder: string;
let recipient: string;
const at = (name: string): string => join(folder, name);
const state = (): readonly string[] => readdirSync(at('state/kbuild/demo'));
const context = (): Context =>
  ({
    cwd: folder,
    env: { XDG_STATE_HOME: at('state'), HOME: folder },
    canAsk: false,
    nowMs: () => 7,
    err: () => undefined,
  }) as unknown as Context;
const open = <T>(file: string, use: (snapshot: string) => T) =>
  withOpenedBackup(context(), { inventory: at('inventory.yaml'), identity: [at('key')] }, file, ({ snapshot }) =>
    Promise.resolve(use(snapshot)),
  );

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const key = await generateX25519Identity();
  recipient = await identityToRecipient(key);
  writeFileSync(at('key'), `# created by a test\n${key}\n`, { mode: 0o600 });
  writeFileSync(
    at('inventory.yaml'),
    'name: demo\nkubernetes: { version: "1.36.3", endpoint: api.example.com }\nhosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]\n',
  );
});

describe('an opened backup', () => {
  test('has its snapshot in the state folder as long as it is used, and what a killed run left is deleted', async () => {
    const file = await backupFile({ recipients: [recipient] }, await plainBackup());
    mkdirSync(at('state/kbuild/demo'), { recursive: true });
    writeFileSync(at('state/kbuild/demo/unencrypted-restore-1.db'), 'left');
    writeFileSync(at('state/kbuild/demo/mine.db'), 'mine');
    expect(isBackup(file)).toBe(true);
    expect(isBackup(at('inventory.yaml'))).toBe(false);
    const text = await open(file, (snapshot) => {
      expect(state()).toEqual(['mine.db', 'unencrypted-restore-7.db']);
      return readFileSync(snapshot, 'utf8');
    });
    expect(text).toContain('data of etcd');
    expect(state()).toEqual(['mine.db']);
  });

  test('leaves nothing behind when it is refused, cut off, or not used to its end', async () => {
    const parts = partsOf({ [SNAPSHOT]: 'data of an etcd without the authority' });
    const swapped = await backupFile({ recipients: [recipient] }, await plainBackup(manifestOf({}, parts), parts));
    await expect(open(swapped, () => undefined)).rejects.toThrow('is not of the cluster whose keys it has');
    const file = await backupFile({ recipients: [recipient] }, await plainBackup());
    writeFileSync(at('half'), readFileSync(file).subarray(0, -20));
    await expect(open(at('half'), () => undefined)).rejects.toThrow(Refused);
    await expect(
      open(file, () => {
        throw new Error('no host answers');
      }),
    ).rejects.toThrow('no host answers');
    expect(state()).toEqual([]);
    await expect(open(at('none'), () => undefined)).rejects.toThrow(UsageError);
    expect(existsSync(at('none'))).toBe(false);
  });
});

test('the files that an inventory names are kept, and none that is a secret', async () => {
  mkdirSync(at('patches'));
  for (const [name, text] of Object.entries({
    'audit.yaml': 'kind: Policy\n',
    'own.key': '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n',
    token: 'secret',
    'objects.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x, namespace: default }\n',
    'patches/kube-apiserver0+merge.yaml': 'spec: {}\n',
  }))
    writeFileSync(at(name), text);
  const text = `name: demo
kubernetes: { version: "1.36.3", endpoint: api.example.com }
hosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]
manifests: [objects.yaml]
kubeadm: { patches: patches }
files:
  - { hosts: all, path: /etc/audit.yaml, source: audit.yaml }
  - { hosts: all, path: /etc/own.key, source: own.key }
  - { hosts: all, path: /etc/token, secret: "file:token" }
  - { hosts: all, path: /etc/called, secret: "command:echo called >called" }
`;
  writeFileSync(at('inventory.yaml'), text);
  const found = await inventoryTexts(at('inventory.yaml'), { env: {}, cwd: folder });
  expect(found.text).toBe(text);
  expect(found.files.map(({ path }) => path).toSorted()).toEqual(
    ['audit.yaml', 'objects.yaml', 'patches/kube-apiserver0+merge.yaml'].map(at).toSorted(),
  );
  expect(existsSync(at('called'))).toBe(false);
});
