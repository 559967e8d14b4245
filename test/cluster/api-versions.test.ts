import { describe, expect, test } from 'vitest';
import { apiVersionsText, isMixed, lowestApiServer, refuseMixed } from '../../src/cluster/api-versions.ts';
import { clusterOf, nodeOf, podOf } from '../fakes/cluster.ts';

/** A cluster whose API servers run these images, and what kubeadm noted for it. */
const running = (version: string, images: Readonly<Record<string, string | undefined>>) =>
  clusterOf({
    version,
    nodes: Object.keys(images).map((name) => nodeOf({ name, role: 'control-plane' })),
    pods: Object.entries(images).flatMap(([node, image]) =>
      image === undefined
        ? []
        : [podOf({ name: `kube-apiserver-${node}`, node, labels: { component: 'kube-apiserver' }, images: [image] })],
    ),
  });
const of = (version: string): string => `registry.k8s.io/kube-apiserver:v${version}`;
const upgraded = running('1.37.1', { cp1: of('1.37.1'), cp2: of('1.36.3'), cp3: of('1.36.3') });

describe('versions of running API servers', () => {
  test.each([
    ['all have the same version', running('1.36.3', { cp1: of('1.36.3'), cp2: of('1.36.3') }), '1.36.3', false],
    ['an operator upgraded one', upgraded, '1.36.3', true],
    ['numbers are compared as numbers', running('1.36.10', { cp1: of('1.36.10'), cp2: of('1.36.9') }), '1.36.9', true],
    ['all upgraded, ClusterConfiguration not yet', running('1.36.3', { cp1: of('1.36.4') }), '1.36.4', true],
    ['the version of one is unknown', running('1.36.3', { cp1: of('1.36.4'), cp2: undefined }), '1.36.3', true],
    ['the version of all is unknown', running('1.36.3', { cp1: 'mine/api:test' }), '1.36.3', false],
  ])('%s', (_, cluster, lowest, mixed) => {
    expect(lowestApiServer(cluster)).toBe(lowest);
    expect(isMixed(cluster)).toBe(mixed);
  });

  test('are listed with their hosts', () => {
    expect(apiVersionsText(upgraded)).toBe('1.36.3 on cp2, cp3; 1.37.1 on cp1');
  });

  test('refuse other settings during an upgrade, because kubeadm would upgrade the other API servers too', () => {
    expect(() => refuseMixed('demo', upgraded, 'another proxy')).toThrow(
      'demo: refused: another proxy is due, and the API servers run different versions (1.36.3 on cp2, cp3; 1.37.1 on cp1; kubeadm noted 1.37.1): they would be upgraded along with it',
    );
  });
});
