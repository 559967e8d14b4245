/** What the survey of downloads asks for, by the architecture and the tools of each host. */
import { describe, expect, test } from 'vitest';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { wantedDownloads } from '../../src/session/downloads.ts';
import { facts, type Fixture, type RawAnswers } from '../fakes/facts.ts';
import { hosts, inventory } from '../fakes/inventory.ts';

const ARM = { arch: 'aarch64\n' };

/** What the host asks for, where all hosts get binaries or none does. */
function urls(
  name: string,
  installFrom: LinuxHost['installFrom'],
  printed: RawAnswers = {},
  { fixture, more = {} }: { readonly fixture?: Fixture; readonly more?: Partial<Inventory> } = {},
): readonly string[] {
  const all = inventory({ hosts: hosts.map((host) => ({ ...host, installFrom })), ...more });
  const host = all.hosts.find((one) => one.name === name) as LinuxHost;
  return wantedDownloads(all, { host, facts: facts(all, host, {}, { fixture, printed }) }).flatMap((one) => one.urls);
}

describe.each([
  ['an arm64 worker of an amd64 control plane', 'w1', 'cp1'],
  ['an arm64 control plane of amd64 workers', 'cp1', 'w1'],
])('%s', (_, arm, amd) => {
  test('asks for the checksums of programs for arm64, and the other host for those for amd64', () => {
    const asked = urls(arm, 'binaries', ARM);
    expect(asked).toContain('https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kubelet.sha256');
    expect(asked.filter((url) => url.includes('amd64'))).toEqual([]);
    const others = urls(amd, 'binaries');
    expect(others).toContain('https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet.sha256');
    expect(others.filter((url) => url.includes('arm64'))).toEqual([]);
  });

  test('asks for the metadata of its own architecture in a repository that has one for each', () => {
    const options = { fixture: 'rocky-9-fresh' } as const;
    const machines = (asked: readonly string[]): readonly string[] =>
      asked.flatMap((url) => /\/(x86_64|aarch64)\//.exec(url)?.[1] ?? []);
    expect(machines(urls(arm, 'distribution', ARM, options))).toEqual(['aarch64']);
    expect(machines(urls(amd, 'distribution', {}, options))).toEqual(['x86_64']);
  });
});

describe('signatures', () => {
  const parts = ['sig', 'cert'].map((part) => `https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kubelet.${part}`);
  const signed = (asked: readonly string[]) => asked.filter((url) => /kubelet\.(?:sig|cert)$/.test(url));
  const { downloads } = inventory();
  const by = (signatures: 'required' | 'off') => ({
    more: { downloads: { ...downloads, kubernetes: { ...downloads.kubernetes, signatures } } },
  });

  test('are asked for where the host has cosign, or the inventory requires them', () => {
    expect(signed(urls('w1', 'binaries', { cosign: 'there\n' }))).toEqual(parts);
    expect(signed(urls('w1', 'binaries', {}, by('required')))).toEqual(parts);
  });

  test('are not asked for on a host without cosign, or where the inventory wants none', () => {
    expect(signed(urls('w1', 'binaries'))).toEqual([]);
    expect(signed(urls('w1', 'binaries', { cosign: 'there\n' }, by('off')))).toEqual([]);
  });
});
