import { describe, expect, test } from 'vitest';
import { installedPrograms } from '../../../src/host/packages/binaries.value.ts';
import { flatcar } from '../../../src/host/packages/flatcar.value.ts';
import {
  getsBinaries,
  installation,
  isBuiltIn,
  isInstalledAs,
  otherWay,
} from '../../../src/host/packages/installer.value.ts';
import { goArchitecture, programFiles } from '../../../src/host/packages/sources.value.ts';
import { inventory as inventoryOf, linuxHost } from '../../fakes/inventory.ts';

const debian = { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian 12' };
const inventory = inventoryOf();
const on = (installFrom: 'distribution' | 'binaries', arch = 'x86_64') => ({
  inventory,
  host: linuxHost('w1', { installFrom }),
  facts: { osRelease: debian, arch },
});
const request = {
  packages: { kubelet: '1.36.3' },
  optional: [],
  hold: [],
  sources: ['kubernetes'],
  proxy: undefined,
} as const;

test.each([
  ['x86_64', 'https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet'],
  ['aarch64', 'https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kubelet'],
])('a %s host downloads programs of its own architecture', (machine, url) => {
  const place = { architecture: goArchitecture(machine), folder: '/opt/bin' };
  expect(programFiles(inventory, place, 'kubelet', '1.36.3')).toEqual([
    { url, proof: { url: `${url}.sha256` }, signature: 'auto', kind: 'program', folder: '/opt/bin', name: 'kubelet' },
  ]);
});

test('the checksum of the inventory counts instead of the published one', () => {
  const url = 'https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet';
  const sha256 = 'ab'.repeat(32);
  const pinned = inventoryOf({ downloads: { ...inventory.downloads, sha256: { [url]: sha256 } } });
  const place = { architecture: 'amd64', folder: '/opt/bin' };
  expect(programFiles(pinned, place, 'kubelet', '1.36.3')[0]?.proof).toEqual({ sha256 });
});

test.each([
  ['auto', 'published', 'auto'],
  ['auto', 'pinned', 'none'],
  ['required', 'published', 'required'],
  ['required', 'pinned', 'required'],
  ['off', 'published', 'none'],
] as const)('with signatures: %s the signature of a file with a %s checksum is verified: %s', (mode, sum, expected) => {
  const url = 'https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kubelet';
  const place = { architecture: 'arm64', folder: '/opt/bin' };
  const kubernetes = { ...inventory.downloads.kubernetes, signatures: mode };
  const sha256 = sum === 'pinned' ? { [url]: 'ab'.repeat(32) } : {};
  const asked = inventoryOf({ downloads: { ...inventory.downloads, kubernetes, sha256 } });
  expect(programFiles(asked, place, 'kubelet', '1.36.3')[0]?.signature).toBe(expected);
});

test('no signature is asked of a project that publishes none', () => {
  const place = { architecture: 'amd64', folder: '/opt/bin' };
  const files = ['kubernetes-cni', 'cri-tools', inventory.runtime.package].flatMap((name) =>
    programFiles(inventory, place, name, '2.2.9'),
  );
  expect(new Set(files.map(({ signature }) => signature))).toEqual(new Set(['none']));
});

test('the runtime comes with the runc that it was tested with', () => {
  const place = { architecture: 'amd64', folder: '/usr/local/bin' };
  const urls = (version: string) =>
    programFiles(inventory, place, inventory.runtime.package, version).map(({ url }) => url);
  expect(urls('2.2.9')[1]).toContain('/runc-1.3.6/');
  expect(urls('2.3.7')[1]).toContain('/runc-1.4.2/');
});

test('a program that was changed or is missing counts as half installed', () => {
  expect([...installedPrograms.parse('kubelet 1.36.3 installed\nkubectl 1.36.3 changed\n', { middleMs: 0 })]).toEqual([
    ['kubelet', { state: 'installed', version: '1.36.3', held: true, from: 'binaries' }],
    ['kubectl', { state: 'half', version: '1.36.3', held: true, from: 'binaries' }],
  ]);
});

test('a host gets binaries when the inventory wants them, and packages of its system otherwise', () => {
  expect(getsBinaries(on('binaries'))).toBe(true);
  expect(getsBinaries(on('distribution'))).toBe(false);
  expect(installation(on('binaries'), request).script).toContain('/bin/linux/amd64/kubelet');
  expect(installation(on('distribution'), request).script).toContain('apt-get');
  // Packages of the host's own repositories are packages there, too.
  expect(installation(on('binaries'), { ...request, packages: { haproxy: 'any' }, sources: [] }).script).toContain(
    'apt-get',
  );
});

test('a package that is published as a package only is refused', () => {
  expect(() => installation(on('binaries'), { ...request, packages: { docker: '1.0.0' } })).toThrow(
    'docker is published as a package only',
  );
});

test('programs do not replace packages, nor packages programs', () => {
  const state = { state: 'installed', version: '1.36.3', held: true } as const;
  expect(otherWay(on('binaries'), ['kubernetes'], 'kubelet', state)?.message).toContain('installed as a package');
  expect(otherWay(on('distribution'), ['kubernetes'], 'kubelet', { ...state, from: 'binaries' })?.message).toContain(
    'installed from binaries',
  );
  expect(otherWay(on('distribution'), ['kubernetes'], 'kubelet', state)).toBeUndefined();
});

describe('a Flatcar host', () => {
  const osRelease = {
    id: 'flatcar',
    idLike: ['coreos'],
    versionId: '4459.0.0',
    codename: '',
    prettyName: 'Flatcar 4459.0.0',
  };
  const host = { inventory, host: linuxHost('w1'), facts: { osRelease, arch: 'aarch64' } };

  test('gets binaries without being told, into /opt/bin, for its architecture', () => {
    expect(getsBinaries(host)).toBe(true);
    const { script } = installation(host, request);
    expect(script).toContain(
      'kubelet 1.36.3 program /opt/bin kubelet https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kubelet',
    );
    expect(script).toContain('curl');
  });

  test('keeps the containerd of its image in whatever version, and is refused where the image has none', () => {
    expect(isBuiltIn(host, ['containerd'])).toBe(true);
    const state = { state: 'installed', version: '2.1.5', held: true } as const;
    expect(isInstalledAs(host, ['containerd'], state, '2.3.7')).toBe(true);
    expect(() =>
      installation(host, { ...request, packages: { containerd: '2.3.7' }, sources: ['containerd'] }),
    ).toThrow('Flatcar brings containerd itself');
  });

  test('cannot install a package of the user', () =>
    expect(() => installation(host, { ...request, packages: { haproxy: 'any' }, sources: [] })).toThrow(
      'haproxy cannot be installed: Flatcar has no packages',
    ));

  test('tells what its image brings', () => {
    const { parse } = flatcar.brought!(['containerd']);
    expect([...parse('containerd 2.1.5\nca-certificates image\n', { middleMs: 0 })]).toEqual([
      ['containerd', { state: 'installed', version: '2.1.5', held: true }],
    ]);
  });

  test.each([
    ['pending\n', ['an update of the image']],
    ['', 'none'],
  ])('reads from update_engine whether it will reboot: %j', (out, found) =>
    expect(flatcar.pendingReboot.parse(out, { middleMs: 0 })).toEqual(found),
  );
});

test('a program over plain http is installed only with a SHA-256 of the inventory, or a required signature', () => {
  const url = 'http://mirror.example.com/kubelet';
  const at = (more: object, signatures: 'auto' | 'required' = 'auto') => {
    const kubernetes = { ...inventory.downloads.kubernetes, url, signatures };
    return inventoryOf({ downloads: { ...inventory.downloads, kubernetes, ...more } });
  };
  const place = { architecture: 'amd64', folder: '/opt/bin' };
  const proofOf = (asked: typeof inventory) => programFiles(asked, place, 'kubelet', '1.36.3')[0]!.proof;
  expect(proofOf(at({}))).toBe('plain');
  expect(proofOf(at({ sha256: { [url]: 'ab'.repeat(32) } }))).toEqual({ sha256: 'ab'.repeat(32) });
  expect(proofOf(at({}, 'required'))).toEqual({ url: `${url}.sha256` });
  expect(() => installation({ ...on('binaries'), inventory: at({}) }, request)).toThrow(
    `w1: refused: ${url} comes over plain http, and the inventory does not name its SHA-256`,
  );
});
