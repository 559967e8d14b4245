import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Step } from '../../src/engine/step.ts';
import { prepare } from '../../src/host/prepare.phases.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { kubernetesPackages } from '../../src/kubeadm/packages.step.ts';
import { containerd } from '../../src/runtime/containerd.step.ts';
import { images } from '../../src/runtime/images.step.ts';
import { Secret } from '../../src/shell/secret.ts';
import { converged } from '../fakes/converged.ts';
import { hosts, inventory } from '../fakes/inventory.ts';
import { flannelNetwork, noNetwork } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const steps: readonly Step[] = [...prepare, ...containerd, ...kubernetesPackages, images];
const SECRET = 'hunter2hunter2';

/** Inventories that differ in everything these steps look at. */
const inventories: fc.Arbitrary<Inventory> = fc
  .record({
    proxy: fc.constantFrom(undefined, { http: 'http://proxy:3128', https: 'http://proxy:3128', noProxy: ['.svc'] }),
    endpointInHosts: fc.boolean(),
    setHostname: fc.boolean(),
    cgroupDriver: fc.constantFrom('systemd' as const, 'cgroupfs' as const),
    containerd: fc.constantFrom('1.7.28', '2.2.9'),
    network: fc.constantFrom(flannelNetwork(), noNetwork),
    login: fc.boolean(),
    mirrors: fc.subarray(['http://10.0.0.1:5000', 'https://mirror.example.com']),
    file: fc.constantFrom('text', Secret.of(SECRET)),
  })
  .map((given) =>
    inventory({
      proxy: given.proxy,
      endpointInHosts: given.endpointInHosts,
      hosts: hosts.map((host) => ({ ...host, setHostname: given.setHostname })),
      network: given.network,
      files: [{ hosts: ['cp1', 'w1'], path: '/etc/kubernetes/audit.yaml', content: given.file, mode: 0o600 }],
      runtime: {
        cgroupDriver: given.cgroupDriver,
        version: given.containerd,
        registries: [
          {
            host: 'r.example.com',
            mirrors: given.mirrors,
            ...(given.login ? { username: 'bob', password: Secret.of(SECRET) } : {}),
          },
        ],
      },
    }),
  );

test('names are unique', () => {
  const names = steps.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('what a run has made is right: a converged host needs nothing', async () => {
  await fc.assert(
    fc.asyncProperty(inventories, fc.constantFrom('control-plane' as const, 'worker' as const), async (inv, role) => {
      const seen = await converged(role, { inventory: inv });
      expect(steps.flatMap((step) => step.diff(seen)).map(({ summary }) => summary)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('no summary and no preview holds a secret', async () => {
  const encoded = Buffer.from(`bob:${SECRET}`).toString('base64');
  await fc.assert(
    fc.asyncProperty(inventories, async (inv) => {
      const due = steps.flatMap((step) => step.diff(target({}, { inventory: inv })));
      const previews = await Promise.all(due.map(async (change) => change.preview?.(recordingOn().on)));
      const shown = [...due.map(({ summary }) => summary), ...previews].join('\n');
      expect([SECRET, encoded].filter((secret) => shown.includes(secret))).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test('every change says what was found', () => {
  for (const { summary } of steps.flatMap((step) => step.diff(target()))) expect(summary).toMatch(/\(.+\)$/);
});
