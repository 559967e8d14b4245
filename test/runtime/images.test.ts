import { expect, test } from 'vitest';
import { images, roleImages } from '../../src/runtime/images.step.ts';
import { fullName } from '../../src/runtime/registries.value.ts';
import { converged } from '../fakes/converged.ts';
import { inventory } from '../fakes/inventory.ts';
import { noNetwork } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

test.each([
  ['nginx', 'docker.io/library/nginx:latest'],
  ['flannel/flannel:v1', 'docker.io/flannel/flannel:v1'],
  ['r.example.com:5000/a', 'r.example.com:5000/a:latest'],
  ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause:3.10'],
  ['localhost/a@sha256:00', 'localhost/a@sha256:00'],
])('the full name of %s is %s', (image, name) => expect(fullName(image)).toBe(name));

test('a control plane runs more than a worker', () => {
  expect(roleImages(target()).map((image) => image.replace(/.*\//, ''))).toEqual([
    'kube-apiserver:v1.36.3',
    'kube-controller-manager:v1.36.3',
    'kube-scheduler:v1.36.3',
    'kube-proxy:v1.36.3',
    'pause:3.10.2',
    'flannel:v0.28.10',
    'flannel-cni-plugin:v1.9.1-flannel1',
  ]);
  expect(roleImages(target({}, { host: 'w1' }))).toHaveLength(4);
});

test("an inventory's own image repository is used for all of Kubernetes", () => {
  const own = inventory({ kubernetes: { imageRepository: 'r.example.com/k8s' }, network: noNetwork });
  expect(roleImages(target({}, { inventory: own, host: 'w1' }))).toEqual([
    'r.example.com/k8s/kube-proxy:v1.36.3',
    'r.example.com/k8s/pause:3.10.2',
  ]);
});

test('one job pulls what is missing; etcd and CoreDNS only on a control plane', async () => {
  const { on, sent } = recordingOn();
  const found = new Set(['registry.k8s.io/kube-proxy:v1.36.3']);
  await images.diff(target({ images: found }, { host: 'w1' }))[0]!.apply!(on);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toHaveProperty('kind', 'job');
  expect(sent[0]).toHaveProperty('script', expect.stringContaining("IMAGES='registry.k8s.io/pause:3.10.2\n"));
  expect(sent[0]).toHaveProperty('script', expect.stringContaining("VERSION=''\n"));
});

test('needs nothing if the host has all images', async () =>
  expect(images.diff(await converged('control-plane'))).toEqual([]));

test('a host that has joined is left to its kubelet, which may clean up', () =>
  expect(images.diff(target({ kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']) }))).toEqual([]));
