import { expect, test } from 'vitest';
import { wantedDownloads } from '../../src/session/downloads.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { inventory } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const installed = (version: string) => ({ state: 'installed', version, held: true }) as const;
const packages = (kubernetes: string) =>
  new Map([
    ...['kubelet', 'kubeadm', 'kubectl'].map((name) => [name, installed(`${kubernetes}-1.1`)] as const),
    ['containerd.io', installed('2.3.7-1~debian.12~bookworm')] as const,
  ]);
const wanted = (facts: FactOverrides) => {
  const { inventory, host, facts: seen } = target(facts);
  return wantedDownloads(inventory, { host, facts: seen });
};
const kinds = (facts: FactOverrides): readonly string[] => [...new Set(wanted(facts).map(({ kind }) => kind))];

test('a bare host downloads packages and images', () => {
  expect(kinds({})).toEqual(['repository', 'packages', 'key', 'image', 'tags']);
});

test('packages that are installed at their version are not downloaded, the others are', () => {
  expect(kinds({ packages: packages('1.36.3') })).toEqual(['image', 'tags']);
  expect(kinds({ packages: packages('1.36.2') })).toEqual(['repository', 'packages', 'key', 'image', 'tags']);
});

test('a host that has everything downloads nothing', () => {
  const all = wanted({});
  const images = all.flatMap(({ kind, what }) => (kind === 'image' ? [what] : kind === 'tags' ? [`${what}:1`] : []));
  expect(images.length).toBeGreaterThan(5);
  expect(wanted({ packages: packages('1.36.3'), images: new Set(images) })).toEqual([]);
});

test('the repositories of handlers that come as packages are asked for, until the package is there', () => {
  const runsc = { name: 'runsc', kind: 'runsc', path: '/usr/bin/runsc', from: 'package', overhead: {} } as const;
  const nvidia = { ...runsc, name: 'nvidia', kind: 'nvidia', path: '/usr/bin/nvidia-container-runtime' } as const;
  const own = { ...runsc, name: 'crun', kind: 'crun', path: '/usr/bin/crun', from: 'host' } as const;
  const about = { inventory: inventory({ runtime: { handlers: [runsc, nvidia, own] } }) };
  const urls = (facts: FactOverrides) => {
    const { inventory: all, host, facts: seen } = target(facts, about);
    return wantedDownloads(all, { host, facts: seen })
      .filter(({ what }) => /gVisor|NVIDIA/.test(what))
      .map(({ kind, what, urls: [first] }) => [kind, what, first]);
  };
  expect(urls({})).toEqual([
    [
      'repository',
      'the repository of gVisor',
      'https://storage.googleapis.com/gvisor/releases/dists/release/InRelease',
    ],
    ['key', 'the signing key of gVisor', 'https://gvisor.dev/archive.key'],
    [
      'repository',
      'the repository of the NVIDIA Container Toolkit',
      'https://nvidia.github.io/libnvidia-container/stable/deb/amd64/InRelease',
    ],
    ['key', 'the signing key of the NVIDIA Container Toolkit', 'https://nvidia.github.io/libnvidia-container/gpgkey'],
  ]);
  const there = new Map([
    ['runsc', installed('20260901.0')] as const,
    ['nvidia-container-toolkit', installed('1.18.0-1')] as const,
  ]);
  expect(urls({ packages: there })).toEqual([]);
});
