import { expect, test } from 'vitest';
import { listeningPorts } from '../../src/host/openings.value.ts';
import { flannelObjects } from '../../src/network/flannel.step.ts';
import { flannelNetConf } from '../../src/network/flannel.value.ts';
import { networkManifests, networkSteps } from '../../src/network/plugins.step.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import { inventoryOf, w1 } from '../fakes/cluster.ts';
import { flannelNetwork, mixedFlannel, noNetwork, withNetwork } from '../fakes/network.ts';

const inventory = withNetwork(inventoryOf(), flannelNetwork());

test('golden: flannel.yaml', async () => {
  const golden = new URL('../golden/flannel.yaml', import.meta.url).pathname;
  await expect(toYaml(flannelObjects(inventory))).toMatchFileSnapshot(golden);
});

test('the inventory’s networks are in it, and a change of them rolls the pods', () => {
  const other = withNetwork(inventory, { ...mixedFlannel(), podSubnet: '10.200.0.0/16' });
  const text = toYaml(flannelObjects(other));
  expect(text).toContain('\\"Network\\": \\"10.200.0.0/16\\"');
  expect(text).toContain('\\"VNI\\": 4096');
  const hash = (yaml: string) => /kbuild.dev\/config: "([0-9a-f]+)"/.exec(yaml)?.[1];
  expect(hash(text)).not.toBe(hash(toYaml(flannelObjects(inventory))));
});

test('golden: flannel-nftables.yaml; a switch to nftables rolls the pods, and the plan says so', async () => {
  const golden = new URL('../golden/flannel-nftables.yaml', import.meta.url).pathname;
  const other = withNetwork(inventory, flannelNetwork({ nftables: true }));
  const config = flannelObjects(other).filter(({ kind }) => kind === 'ConfigMap');
  await expect(toYaml(config)).toMatchFileSnapshot(golden);
  const hash = (objects: readonly object[]) => /kbuild.dev\/config": ?"([0-9a-f]+)"/.exec(JSON.stringify(objects))?.[1];
  expect(hash(flannelObjects(other))).not.toBe(hash(flannelObjects(inventory)));
  expect(networkManifests(other).map(({ title }) => title)).toEqual(['flannel v0.28.10 with nftables']);
  expect(networkManifests(inventory).map(({ title }) => title)).toEqual(['flannel v0.28.10']);
});

test('flanneld on Windows has no rules to write with nftables', () => {
  const other = withNetwork(inventory, flannelNetwork({ nftables: true }));
  expect(flannelNetConf(other, 'windows')).toBe(flannelNetConf(inventory, 'linux'));
  expect(flannelNetConf(other, 'linux')).toContain('"EnableNFTables": true');
});

test('host-gw needs no tunnel', () => {
  const routed = withNetwork(inventory, flannelNetwork({ backend: 'host-gw' }));
  expect(toYaml(flannelObjects(routed))).toContain(String.raw`\"Type\": \"host-gw\"`);
  expect(listeningPorts(routed, w1).filter(({ program }) => program === 'flannel')).toEqual([]);
});

test('a network that the user installs has no objects and no steps', () => {
  const none = withNetwork(inventory, noNetwork);
  expect([networkManifests(none), networkSteps(none)]).toEqual([[], []]);
});
