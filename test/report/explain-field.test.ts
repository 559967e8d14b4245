import { expect, test } from 'vitest';
import { fieldExplained } from '../../src/report/explain-field.ts';

test('a field of the kubelet is explained with its type, default and documentation', () => {
  expect(fieldExplained('kubelet.config.maxPods')).toMatchObject({
    name: 'kubelet.config.maxPods',
    type: 'whole number',
    default: '110',
    why: expect.stringContaining('Pods') as unknown,
  });
  expect(fieldExplained('roles.worker.kubelet.config.maxPods')).toMatchObject({ type: 'whole number' });
});

test('a field in a list, a mapping of names and a part are explained', () => {
  expect(fieldExplained('kubeadm.cluster.apiServer.extraVolumes[].hostPath')).toMatchObject({ type: 'text' });
  expect(fieldExplained('kubelet.config.evictionHard.memory.available')).toMatchObject({
    type: 'mapping of names to text',
  });
  const part = fieldExplained('kubeadm.cluster.apiServer');
  expect(part).toMatchObject({
    inside: expect.arrayContaining([expect.objectContaining({ name: 'certSANs' })]) as unknown,
  });
});

test('a newer field is explained with its first minor, an unknown one with the nearest', () => {
  expect(fieldExplained('kubelet.config.memoryReservationPolicy')).toMatchObject({
    why: expect.stringMatching(/^From Kubernetes 1\.36 on\. /) as unknown,
  });
  expect(fieldExplained('kubelet.config.maxPod')).toMatch(/did you mean maxPods\?/);
});

test('a setting of kbuild is no field of others', () => {
  expect(fieldExplained('kubelet.extraArgs')).toBeUndefined();
  expect(fieldExplained('kubelet.config')).toBeUndefined();
});
