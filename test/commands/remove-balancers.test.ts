import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { haproxyConfig } from '../../src/balancer/haproxy.step.ts';
import { remove } from '../../src/commands/remove.phases.ts';
import type { FileState } from '../../src/host/files.facts.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import { cp1, cp2, cp3, factsOf, fleetOf, hostOf, inventoryOf, targetOf, w1 } from '../fakes/cluster.ts';

const inventory = inventoryOf({
  hosts: [cp1, cp2, cp3, w1],
  endpoint: '10.0.0.100:8443',
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 },
});
const before = () => Promise.resolve();
const phases = (of: Inventory, ...leaving: readonly (typeof cp1)[]) =>
  remove(of, {
    leaving: leaving.map(({ name, internalAddress }) => ({
      name,
      internalAddress,
      role: 'control-plane',
      host: hostOf({ name }),
    })),
    drain: 'no',
    before,
  });
const order = (of: Inventory, ...leaving: readonly (typeof cp1)[]) =>
  phases(of, ...leaving).map(({ name, hosts }) => `${name} ${hosts.map((host) => host.name).join()}`);

test('the balancers that stay drop a backend before it goes, and a peer after it went, one at a time', () => {
  expect(order(inventory, cp3)).toEqual(['backends cp1,cp2', 'remove cp3', 'load-balancer cp1,cp2']);
  expect(phases(inventory, cp3).map(({ concurrency }) => concurrency)).toEqual([1, 1, 1]);
});

test('what they get is the configuration without those who leave, though the inventory still names them', () => {
  const after = { ...inventory, hosts: [cp1, cp2, w1] };
  const written = (of: Inventory): FileState => ({
    kind: 'file',
    sha256: createHash('sha256')
      .update(haproxyConfig(targetOf(of, cp1, fleetOf([cp1, factsOf({ ownFiles: [] })]))))
      .digest('hex'),
    mode: 0o644,
    owner: 'root:root',
    mtimeMs: 1,
  });
  const due = (of: Inventory) => {
    const facts = factsOf({ files: new Map([[paths.haproxyConfig, written(of)]]), ownFiles: [] });
    const step = phases(inventory, cp3)[0]!.steps[0]! as { readonly diff: (target: object) => readonly unknown[] };
    return step.diff(targetOf(inventory, cp1, fleetOf([cp1, facts])));
  };
  expect(due(inventory)).toMatchObject([{ summary: `write ${paths.haproxyConfig} (content differs)` }]);
  expect(due(after)).toEqual([]);
});

test('a worker that leaves, and a balancer that kbuild did not build, are no reason to touch one', () => {
  expect(order(inventory, w1)).toEqual(['remove w1']);
  expect(order({ ...inventory, loadBalancer: { kind: 'external' } }, cp3)).toEqual(['remove cp3']);
});
