import { describe, expect, test } from 'vitest';
import type { WindowsFacts } from '../../src/cluster/fleet/windows.ts';
import { FactError } from '../../src/errors.ts';
import { diagnosis, signatures } from '../../src/report/failure.ts';
import { windowsFiles } from '../../src/windows/files.facts.ts';
import { recognised, windowsSignatures } from '../../src/windows/problems/problems.ts';
import { clusterOf, inventoryOf, podOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';

test('every signature has a unique name and a remedy', () => {
  const names = [...windowsSignatures.map(({ name }) => name)];
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(signatures.map(({ name }) => name)).size).toBe(signatures.length);
  for (const { symptom, see, cause, remedy, mends } of windowsSignatures)
    for (const text of [symptom, see, cause, remedy, mends]) expect(text.trim()).not.toBe('');
});

describe('log lines match signature', () => {
  test.each([
    [
      'windows-wrong-build',
      'Failed to pull image "example.com/app:1": no matching manifest for windows/amd64 10.0.26100 in the manifest list entries',
    ],
    [
      'windows-sandbox-image',
      'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "registry.k8s.io/pause:3.6"',
    ],
    [
      'windows-subnet-env-missing',
      'plugin type="flannel" failed (add): loadFlannelSubnetEnv failed: open C:\\run\\flannel\\subnet.env: The system cannot find the file specified.',
    ],
    ['windows-flanneld-waits', 'Waiting to get ManagementIP from HNSNetwork flannel.4096'],
    ['windows-port-forward', 'error forwarding port 8080 to pod: exec: "wincat": executable file not found in %PATH%'],
    ['windows-no-adapter', 'Failed to find any valid interface to use: failed to find interface 10.0.0.31'],
  ])('%s', (name, text) => {
    expect(diagnosis([text])?.name).toBe(name);
  });
});

describe('signatures found in facts', () => {
  const host = windowsHost('win1');
  const inventory = inventoryOf({
    network: mixedFlannel(),
    hosts: [host],
  });
  /** A healthy host that has joined. */
  const well = {
    kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']),
    services: new Map(['containerd', 'kubelet'].map((name) => [name, { name, state: 'Running' }])),
    hns: { networks: [{ name: 'flannel.4096' }], endpoints: [] },
    network: { addresses: [{ address: host.internalAddress }] },
    files: windowsFiles('win1', [], ['C:\\sourcevip']),
  };
  const seen = (facts: object): readonly string[] => {
    const fleet = { hosts: [], unreachable: [], cluster: { state: 'absent' } } as const;
    const all = { ...well, ...facts } as unknown as WindowsFacts;
    return recognised({ inventory, host, facts: all, fleet }).map(
      ({ signature, found }) => `${signature.name}: ${found}`,
    );
  };

  test('a healthy host and a bare host match none', () => {
    expect(seen({})).toEqual([]);
    expect(seen({ kubernetesTraces: new Set(), services: new Map(), hns: { networks: [], endpoints: [] } })).toEqual(
      [],
    );
  });

  test('services that are missing or stopped', () => {
    expect(seen({ services: new Map([['containerd', { state: 'Stopped' }]]) })).toEqual([
      'services-not-registered: no service kubelet',
      'services-not-running: containerd not running',
    ]);
  });

  test('a service that is paused, of those that the inventory wants', () => {
    const services = new Map(
      [
        ['containerd', 'Running'],
        ['kubelet', 'Running'],
        ['flanneld', 'Running'],
        ['kube-proxy', 'Paused'],
      ].map(([name, state]) => [name!, { state }]),
    );
    const fleet = { hosts: [], unreachable: [], cluster: { state: 'absent' } } as const;
    const facts = { ...well, services } as unknown as WindowsFacts;
    const found = recognised({
      inventory: { ...inventory, network: mixedFlannel({ services: true }) },
      host,
      facts,
      fleet,
    });
    expect(found.map((one) => one.found)).toEqual(['kube-proxy not running']);
  });

  test('an HNS network that flanneld has not created', () => {
    expect(seen({ hns: { networks: [{ name: 'nat' }], endpoints: [] } })).toEqual([
      'flanneld-waits: no HNS network flannel.4096',
    ]);
  });

  test('an internalAddress that no adapter has', () => {
    expect(seen({ network: { addresses: [] } })).toEqual([`no-adapter: no adapter has ${host.internalAddress}`]);
  });

  test('before the join, a source address of an earlier cluster', () => {
    const files = windowsFiles('win1', [{ kind: 'folder', path: 'C:\\sourcevip', entries: 1, modifiedMs: 0 }], []);
    expect(seen({ files, kubernetesTraces: new Set() })).toEqual([
      'stale-source-vip: C:\\sourcevip of an earlier cluster',
    ]);
    expect(seen({ files })).toEqual([]);
  });

  test('Linux pods that were scheduled on the node', () => {
    const pod = (name: string, app: string) => podOf({ name, node: 'win1', labels: { 'k8s-app': app } });
    const pods = [pod('kube-proxy-abc', 'kube-proxy'), pod('kube-proxy-windows-x', 'kube-proxy-windows')];
    const fleet = { hosts: [], unreachable: [], cluster: clusterOf({ pods }) };
    const found = recognised({ inventory, host, facts: well as unknown as WindowsFacts, fleet });
    expect(found.map((one) => `${one.signature.name}: ${one.found}`)).toEqual(['linux-pods: kube-proxy-abc on it']);
  });

  test('skips signatures whose facts could not be observed', () => {
    const unknown = {
      get services(): never {
        throw new FactError('win1', 'services', 'it timed out');
      },
    };
    expect(
      recognised({
        inventory,
        host,
        facts: Object.defineProperty(
          { ...well },
          'services',
          Object.getOwnPropertyDescriptor(unknown, 'services')!,
        ) as unknown as WindowsFacts,
        fleet: { hosts: [], unreachable: [], cluster: { state: 'absent' } },
      }),
    ).toEqual([]);
  });
});
