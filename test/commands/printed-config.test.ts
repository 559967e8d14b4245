import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { printedConfiguration } from '../../src/commands/validate.ts';
import { inventoryOf } from '../inventory/load.ts';

test('what kubeadm and each kubelet get is printed after all levels, as YAML without secrets', async () => {
  const inventory = await inventoryOf(`name: prod
kubernetes: { version: "1.36.3" }
kubelet: { config: { maxPods: 100 } }
kubeadm: { cluster: { apiServer: { certSANs: [api.example.com] } } }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: w1, address: 10.0.0.21, role: worker, kubelet: { config: { maxPods: 50 } } }
`);
  const text = printedConfiguration(inventory);
  expect(text.match(/^# .*$/gm)).toEqual([
    '# cp1: kubeadm init',
    '# cp1: its kubelet',
    '# w1: kubeadm join',
    '# w1: its kubelet',
  ]);
  const documents = parseAllDocuments(text).map((one) => one.toJS() as Readonly<Record<string, unknown>>);
  expect(documents.map(({ kind }) => kind)).toEqual([
    'InitConfiguration',
    'ClusterConfiguration',
    'KubeletConfiguration',
    'KubeletConfiguration',
    'JoinConfiguration',
    'KubeletConfiguration',
  ]);
  expect(documents[1]).toMatchObject({
    apiServer: { certSANs: expect.arrayContaining(['api.example.com']) as unknown },
  });
  expect(documents.at(-1)).toMatchObject({ maxPods: 50 });
  expect(documents[4]).toMatchObject({ discovery: { bootstrapToken: { token: 'made for each join' } } });
});
