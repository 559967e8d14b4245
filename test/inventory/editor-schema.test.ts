import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { editorJsonSchema } from '../../src/inventory/schema/editor.ts';

const validate = new Ajv2020({ strict: false }).compile(editorJsonSchema());

const isValid = (settings: object): boolean =>
  validate({
    name: 'prod',
    kubernetes: { version: '1.36.3' },
    hosts: [{ name: 'cp1', address: '10.0.0.11', role: 'control-plane' }],
    ...settings,
  });

test.each([
  ['a field', { kubelet: { config: { maxPods: 50 } } }, { kubelet: { config: { maxPod: 50 } } }],
  [
    'a type',
    { kubeadm: { cluster: { apiServer: { certSANs: ['a'] } } } },
    { kubeadm: { cluster: { apiServer: { certSANs: 'a' } } } },
  ],
  ['a value', { kubeadm: { kubeProxy: { mode: 'ipvs' } } }, { kubeadm: { kubeProxy: { mode: 'ipvss' } } }],
  [
    'a field of a role',
    { roles: { worker: { kubelet: { config: { failSwapOn: false } } } } },
    { roles: { worker: { kubelet: { config: { failSwap: false } } } } },
  ],
])("editors know %s of kubeadm's, the kubelet's and kube-proxy's configuration", (_, right, wrong) => {
  expect(isValid(right)).toBe(true);
  expect(isValid(wrong)).toBe(false);
});
