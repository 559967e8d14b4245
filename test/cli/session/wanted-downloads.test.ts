import { expect, test } from 'vitest';
import { wantedDownloads } from '../../../src/cli/session/wanted-downloads.ts';
import type { FactOverrides } from '../../fakes/facts.ts';
import { target } from '../../fakes/target.ts';

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
