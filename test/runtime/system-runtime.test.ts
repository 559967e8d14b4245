import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import type { PackageState } from '../../src/host/packages/package-manager.value.ts';
import { packagesReleased } from '../../src/kubeadm/clean-host.step.ts';
import { runtimeSteps } from '../../src/runtime/runtimes.step.ts';
import { atRuntimeOfHost, runtimeChange } from '../../src/runtime/version.step.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const { runtime } = inventory();
const plain = inventory({ runtime: { ...runtime, versionFrom: 'default' } });
const pinned = inventory({ runtime: { ...runtime, version: '2.2.9', versionFrom: 'inventory' } });
const installed = (version: string): ReadonlyMap<string, PackageState> =>
  new Map(['containerd', 'containerd-ctr'].map((name) => [name, { state: 'installed', version, held: true }]));

/** A host of openSUSE Leap, whose own repositories have containerd. */
const on = (facts: FactOverrides = {}, given = plain): Target =>
  target(facts, { inventory: given, fixture: 'opensuse-16.0-fresh' });
const changes = (seen: Target) =>
  runtimeSteps(seen.inventory)
    .map(atRuntimeOfHost)
    .flatMap((step) => step.diff(seen));
const summaries = (seen: Target) => changes(seen).map(({ summary }) => summary);

describe("a runtime from the system's own repositories", () => {
  test('needs no repository of kbuild, and its configuration comes after the package, whose version decides about it', () =>
    expect(summaries(on())).toEqual([
      'install containerd (found none), containerd-ctr (found none)',
      'write /etc/containerd/config.toml (found none)',
      'start containerd (found none)',
    ]));

  test('is installed as the repositories have it, or exactly as the inventory pins it', async () => {
    const packages = async (seen: Target) => {
      const { on: recording, sent } = recordingOn();
      await changes(seen)[0]!.apply!(recording);
      return /^PACKAGES=[\s\S]*?^KEYS=/m.exec('script' in sent[0]! ? sent[0].script : '')![0];
    };
    expect(await packages(on())).toContain("PACKAGES='containerd any\ncontainerd-ctr any'\n");
    const exact = await packages(on({}, pinned));
    expect(exact).toContain("PACKAGES='containerd 2.2.9\ncontainerd-ctr any'\n");
    expect(exact).toContain("HOLD='containerd\ncontainerd-ctr'\n");
    expect(exact).toContain("SOURCES=''\n");
  });

  test.each([
    ['1.7.33-1.1', 'version = 2'],
    ['2.2.9-1.1', 'version = 3'],
  ])('is configured for the major that is installed: %s', async (version, expected) => {
    const { on: recording, sent } = recordingOn();
    const write = changes(on({ packages: installed(version) })).find(({ summary }) => summary.startsWith('write'));
    await write!.apply!(recording);
    expect(JSON.stringify(sent)).toContain(expected);
  });

  test('of any version stays on a joined host, and a pinned one makes a change of it', () => {
    const joined = { kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']), packages: installed('1.7.33-1.1') };
    expect(summaries(on(joined)).filter((one) => one.startsWith('install'))).toEqual([]);
    expect(runtimeChange(on(joined))).toBeUndefined();
    expect(summaries(on(joined, pinned)).filter((one) => one.startsWith('install'))).toEqual([]);
  });

  test('of another version than the pinned one is installed again', () =>
    expect(summaries(on({ packages: installed('1.7.33-1.1') }, pinned))[0]).toBe(
      'install containerd 2.2.9 (found 1.7.33-1.1)',
    ));

  test('is released by reset with what belongs to it', () =>
    expect(packagesReleased.diff(on({ packages: installed('2.2.9-1.1') })).map(({ summary }) => summary)).toEqual([
      'unhold containerd, containerd-ctr',
    ]));
});

test("a host with Docker's repository keeps what it holds of the distribution's own containerd", () => {
  const held = new Map([
    ...installed('1.7.24-1'),
    ['containerd.io', { state: 'installed' as const, version: '2.3.7-1', held: true }] as const,
  ]);
  expect(packagesReleased.diff(target({ packages: held })).map(({ summary }) => summary)).toEqual([
    'unhold containerd.io',
  ]);
});
