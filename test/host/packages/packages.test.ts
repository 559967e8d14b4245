import { describe, expect, test } from 'vitest';
import type { PackageState } from '../../../src/host/packages/package-manager.value.ts';
import { packages } from '../../../src/host/packages/packages.step.ts';
import type { FactOverrides } from '../../fakes/facts.ts';
import { recordingOn } from '../../fakes/on.ts';
import { target } from '../../fakes/target.ts';

const step = packages('kubernetes', () => ({ kubelet: '1.36.3', 'kubernetes-cni': 'any' }), { upgrades: 'held' });
const summaries = (installed: Readonly<Record<string, PackageState>>) =>
  step.diff(target({ packages: new Map(Object.entries(installed)) })).map(({ summary }) => summary);
const state = (version: string, held = true): PackageState => ({ state: 'installed', version, held });

test('one change lists all that is missing', () =>
  expect(summaries({})).toEqual(['install kubelet 1.36.3 (found none), kubernetes-cni (found none)']));

test('another version, or half an installation, is installed again', () =>
  expect(
    summaries({ kubelet: state('1.36.1-1.1'), 'kubernetes-cni': { ...state('1.8.0-1.1'), state: 'half' } }),
  ).toEqual(['install kubelet 1.36.3 (found 1.36.1-1.1), kubernetes-cni (found 1.8.0-1.1 half installed)']));

test('a package that is not held gets held', () =>
  expect(summaries({ kubelet: state('1.36.3-1.1', false), 'kubernetes-cni': state('1.8.0-1.1') })).toEqual([
    'hold kubelet (found 1.36.3-1.1, not held)',
  ]));

test('needs nothing if all packages are installed and held', () =>
  expect(summaries({ kubelet: state('1.36.3-1.1'), 'kubernetes-cni': state('1.8.0-1.1') })).toEqual([]));

describe('an installation', () => {
  const disrupts = (facts: FactOverrides, one = step) => one.diff(target(facts))[0]!.disrupts;
  const joined = { kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']) };
  const runtime = packages('runtime', () => ({ 'containerd.io': '2.2.9' }), { upgrades: 'held' });
  const authorities = packages('authorities', () => ({ 'ca-certificates': 'any' }));
  const balancer = packages('balancer', () => ({ haproxy: 'any', keepalived: 'any' }));
  const half = new Map<string, PackageState>(
    ['haproxy', 'keepalived'].map((name) => [name, { ...state('3.0-1'), state: 'half' }]),
  );
  const running = { load: 'loaded', active: 'active', enabled: 'enabled', startedMs: 1, needsDaemonReload: false };

  test('disrupts a host that has joined: the scripts of these packages restart what it lives on', () => {
    expect(disrupts(joined)).toBe(true);
    expect(disrupts(joined, runtime)).toBe(true);
  });
  test('disrupts a load balancer that runs', () =>
    expect(disrupts({ packages: half, services: new Map([['keepalived', running]]) }, balancer)).toBe(true));
  test('disrupts nothing on a fresh host, or of packages without a service', () => {
    expect(disrupts({})).toBe(false);
    expect(disrupts({ packages: half }, balancer)).toBe(false);
    expect(disrupts({ ...joined, packages: new Map() }, authorities)).toBe(false);
  });
  test('that only holds packages disrupts nothing', () => {
    const loose = new Map([['containerd.io', state('2.2.9-1', false)]]);
    expect(disrupts({ ...joined, packages: loose }, runtime)).toBe(false);
  });
});

test('fails for a package that no step of the run watches', () =>
  expect(() => packages('x', () => ({ cowsay: 'any' })).diff(target())).toThrow('cowsay is not observed'));

test('the transaction is one job', async () => {
  const { on, sent } = recordingOn();
  await step.diff(target())[0]!.apply!(on);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ kind: 'job', name: 'packages', title: 'host/packages/debian/install-packages.sh' });
  expect(sent[0]).toHaveProperty('script', expect.stringContaining("PACKAGES='kubelet 1.36.3\nkubernetes-cni any'\n"));
});
