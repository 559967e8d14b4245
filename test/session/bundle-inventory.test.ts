import { expect, test } from 'vitest';
import { secretData } from '../../src/inventory/file/manifests.ts';
import { masker } from '../../src/report/mask.ts';
import { bundleInventory } from '../../src/session/end-report.ts';
import { Secret } from '../../src/shell/secret.ts';
import { inventory } from '../fakes/inventory.ts';
import { calicoNetwork } from '../fakes/network.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const objects = [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace: 'shop' },
    data: { password: base64('decoded-canary'), login: base64('{"auths":{"r":{"auth":"json-canary"}}}') },
    stringData: { settings: 'user=admin\nURL = "line-canary"\n' },
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { text: 'map-canary' } },
];
const full = {
  ...inventory(),
  manifests: [{ source: 'https://example.com/a.yaml', objects }],
  files: [
    { hosts: ['w1'], path: '/etc/a', content: 'file-canary', mode: 0o644 },
    { hosts: ['w1'], path: '/etc/b', content: Secret.of('secret-canary'), mode: 0o600 },
  ],
};
const withPatches = { ...full, kubeadm: { ...full.kubeadm, patches: { 'etcd.yaml': 'patch-canary' } } };

test('the inventory of a bundle has names and hashes of files, manifests and patches, and no contents', () => {
  const shown = JSON.stringify(bundleInventory(withPatches));
  expect(shown).not.toMatch(/canary/);
  expect(bundleInventory(withPatches)).toMatchObject({
    name: 'prod',
    manifests: [
      {
        source: 'https://example.com/a.yaml',
        objects: [
          { kind: 'Secret', namespace: 'shop', name: 'db' },
          { kind: 'ConfigMap', name: 'web', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        ],
      },
    ],
    files: [
      { path: '/etc/a', content: { bytes: 11, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string } },
      { path: '/etc/b' },
    ],
    kubeadm: { patches: { 'etcd.yaml': { bytes: 12 } } },
  });
  // A short value could be guessed from the hash of its object.
  expect(shown).not.toMatch(/"kind":"Secret"[^}]*sha256/);
});

test('what Secret objects of manifests hold is masked wherever it shows', () => {
  const mask = masker([full, secretData(full)]);
  for (const value of ['decoded-canary', base64('decoded-canary'), 'json-canary', 'line-canary', 'secret-canary'])
    expect(mask.text(`pod printed ${value}!`)).toBe('pod printed (secret)!');
  expect(mask.text('map-canary')).toBe('map-canary');
});

test('Secrets of Calico’s operator count too', () => {
  const manifests = [{ source: 'tigera.yaml', objects: objects.slice(0, 1) }];
  expect(secretData({ ...inventory(), network: calicoNetwork({ manifests }) }).length).toBeGreaterThan(2);
});
