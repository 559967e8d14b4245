import { describe, expect, test } from 'vitest';
import { type ClusterView, objectKey } from '../../src/cluster/fleet/view.ts';
import { unwantedObjects, wantedObjects } from '../../src/commands/objects.phases.ts';
import { stamped } from '../../src/engine/objects.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { serviceSubnets } from '../../src/network/service-subnets.step.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost } from '../fakes/cluster.ts';
import { noNetwork } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';
import { inventoryOf as loaded, problemsOf } from '../inventory/load.ts';

const SUBNETS = ['10.112.0.0/16', '10.113.0.0/24'];
const KEYS = SUBNETS.map((cidr) => `networking.k8s.io/v1/ServiceCIDR//kbuild-${cidr.replaceAll(/[./]/g, '-')}`);
const withSubnets = (...moreServiceSubnets: readonly string[]): Inventory =>
  inventoryOf({ network: { ...noNetwork, moreServiceSubnets } });
const mine = withSubnets(...SUBNETS);
const target = (inventory: Inventory, facts: ClusterView) => ({
  inventory,
  host: cp1,
  facts,
  fleet: fleetIn(facts, joinedHost(cp1)),
});
const live = (metadata: object = {}) =>
  clusterOf({
    owned: KEYS,
    objects: new Map(
      wantedObjects(mine).map((object) => {
        const applied = stamped(object);
        return [objectKey(object), { ...applied, metadata: { ...(applied['metadata'] as object), ...metadata } }];
      }),
    ),
  });

describe('more networks for Services', () => {
  test('are a ServiceCIDR each, which up applies', async () => {
    const [change] = serviceSubnets.diff(target(mine, clusterOf()));
    expect(change!.summary).toBe('apply ServiceCIDRs 10.112.0.0/16, 10.113.0.0/24 (found none)');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    const { script } = sent[0] as { readonly script: string };
    for (const cidr of SUBNETS) expect(script).toContain(`"spec":{"cidrs":["${cidr}"]}`);
    // The record leads: what is applied and not recorded could never be taken back.
    expect(script).toMatch(/"kind":"ConfigMap"[^]*"kind":"ServiceCIDR"/);
  });

  test('that are there need nothing, and an inventory without any wants none', () => {
    expect(serviceSubnets.diff(target(mine, live()))).toEqual([]);
    expect(serviceSubnets.diff(target(withSubnets(), clusterOf()))).toEqual([]);
    expect(wantedObjects(withSubnets())).toEqual([]);
  });

  test('that leave the inventory are deleted; the plan says that Kubernetes keeps one that is in use', () => {
    const [change] = unwantedObjects.diff(target(withSubnets(SUBNETS[0]!), live()));
    expect(change!.summary).toBe(
      'delete ServiceCIDR kbuild-10-113-0-0-24 (not in the inventory any more; a ServiceCIDR stays until no Service has an address of it)',
    );
  });

  test('that come back while Kubernetes still deletes them are waited for: such a network gives no addresses', () => {
    const [change] = serviceSubnets.diff(target(mine, live({ deletionTimestamp: '2026-11-25T00:00:00Z' })));
    expect(change!.apply).toBeUndefined();
    expect(change!.summary).toMatch(/^wait until ServiceCIDR kbuild-10-112-0-0-16, kbuild-10-113-0-0-24 is deleted/);
  });

  test('wait for an API that does not answer', () =>
    expect(serviceSubnets.diff(target(mine, { state: 'down', reason: 'x' }))[0]!.apply).toBeUndefined());
});

describe('network.moreServiceSubnets', () => {
  const text = (subnets: string, more = ''): string => `name: prod
kubernetes: { version: "1.36.3", endpoint: 10.0.0.11 }
network: { moreServiceSubnets: [${subnets}] }
${more}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
`;

  test('are reached without the proxy', async () => {
    const { network, proxy } = await loaded(text('10.112.0.0/16', 'proxy: { http: "http://p.example.com:3128" }'));
    expect(network.moreServiceSubnets).toEqual(['10.112.0.0/16']);
    expect(proxy!.noProxy).toContain('10.112.0.0/16');
  });

  test.each([
    ['pods', '10.244.7.0/24', /10\.244\.7\.0\/24 overlaps podSubnet 10\.244\.0\.0\/16; they must be disjoint/],
    ['the first Services', '10.100.0.0/16', /overlaps serviceSubnet 10\.96\.0\.0\/12/],
    ['each other', '10.112.0.0/16, 10.112.8.0/24', /10\.112\.8\.0\/24 overlaps moreServiceSubnets 10\.112\.0\.0\/16/],
  ])('are refused where they overlap %s', async (_, subnets, message) => {
    expect(await problemsOf(text(subnets))).toEqual([expect.stringMatching(message)]);
  });

  test('are refused where hosts, the endpoint or the virtual address lie, and with a size that kubeadm would not take', async () => {
    expect((await problemsOf(text('10.0.0.0/16'))).join('\n')).toMatch(
      /hosts\[0\]\.address: 10\.0\.0\.11 lies in network\.moreServiceSubnets 10\.0\.0\.0\/16[^]*|kubernetes\.endpoint: lies in network\.moreServiceSubnets/,
    );
    const balancer = 'loadBalancer: { kind: keepalived, address: 10.112.0.9 }';
    expect((await problemsOf(text('10.112.0.0/16', balancer))).join('\n')).toMatch(
      /loadBalancer\.address: lies in network\.moreServiceSubnets 10\.112\.0\.0\/16/,
    );
    expect(await problemsOf(text('11.0.0.0/8'))).toEqual([expect.stringMatching(/too large: use \/12 to \/28$/)]);
  });

  test('are refused with Windows hosts, whose pods would not reach them', async () => {
    const windows = `${text('10.112.0.0/16')}  - { name: win1, address: 10.0.0.31, role: worker, os: windows }\n`;
    expect((await problemsOf(windows)).join('\n')).toMatch(/moreServiceSubnets: is not supported with Windows hosts/);
  });
});
