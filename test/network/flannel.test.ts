import { expect, test } from 'vitest';
import { toYaml } from '../../src/configuration/secret-yaml.ts';
import { flannelManifest, flannelObjects } from '../../src/network/flannel.ts';
import { listeningPorts } from '../../src/topology/ports.ts';
import { inventoryOf, w1 } from '../fakes/cluster.ts';

const inventory = inventoryOf();
const flannel = { ...inventory.network.flannel, port: 4789, vni: 4096 };

test('golden: flannel.yaml', async () => {
  const golden = new URL('../golden/flannel.yaml', import.meta.url).pathname;
  await expect(toYaml(flannelObjects(inventory))).toMatchFileSnapshot(golden);
});

test('the inventory’s networks are in it, and a change of them rolls the pods', () => {
  const other = inventoryOf({ network: { ...inventory.network, podSubnet: '10.200.0.0/16', flannel } });
  const text = toYaml(flannelObjects(other));
  expect(text).toContain('\\"Network\\": \\"10.200.0.0/16\\"');
  expect(text).toContain('\\"VNI\\": 4096');
  const hash = (yaml: string) => /kbuild.dev\/config: "([0-9a-f]+)"/.exec(yaml)?.[1];
  expect(hash(text)).not.toBe(hash(toYaml(flannelObjects(inventory))));
});

test('host-gw needs no tunnel', () => {
  const routed = inventoryOf({
    network: { ...inventory.network, flannel: { ...inventory.network.flannel, backend: 'host-gw' } },
  });
  expect(toYaml(flannelObjects(routed))).toContain(String.raw`\"Type\": \"host-gw\"`);
  expect(listeningPorts(routed, w1).filter(({ program }) => program === 'flannel')).toEqual([]);
});

test('there is none where the network is the user’s', () => {
  expect(flannelManifest(inventoryOf({ network: { ...inventory.network, plugin: 'none' } }))).toBeUndefined();
});
