import { expect, test } from 'vitest';
import { downloads } from '../../../src/host/packages/downloads.check.ts';
import type { Fault, NotThere } from '../../../src/host/packages/downloads.survey.ts';
import { cp1, fleetOf, inventoryOf } from '../../fakes/cluster.ts';

const image = (name: string, ...faults: readonly (readonly [string, Fault['kind'], string])[]): NotThere => ({
  wanted: { kind: 'image', what: `registry.k8s.io/${name}`, urls: [] },
  faults: faults.map(([base, kind, why]) => ({ url: `${base}/v2/${name}/manifests/1`, kind, why })),
});
const told = (...found: readonly NotThere[]): readonly string[] => {
  const surveys = { ports: { tried: 0, blocked: [], narrow: [], unverified: [], failed: [] }, disks: [], overlays: [] };
  const fleet = { ...fleetOf(), surveys: { ...surveys, downloads: [{ host: cp1, found }] } };
  return downloads
    .test({ inventory: inventoryOf(), fleet })
    .map(({ severity, message, remedy = '' }) => `${severity}: ${message} → ${remedy}`);
};

const MIRROR = 'http://mirror:5000';
const names = ['kube-apiserver', 'kube-proxy', 'pause', 'coredns'];

test('a registry that answers 500 is one finding with its status, however many images are wanted of it', () => {
  const nothing = ['https://registry.k8s.io', 'silent', 'curl: (6) Could not resolve host: registry.k8s.io'] as const;
  expect(told(...names.map((name) => image(name, [MIRROR, 'failed', 'answers with status 500'], nothing)))).toEqual([
    'error: cannot get 4 images (registry.k8s.io/kube-apiserver, registry.k8s.io/kube-proxy, registry.k8s.io/pause and 1 more): http://mirror:5000: answers with status 500; https://registry.k8s.io: curl: (6) Could not resolve host: registry.k8s.io → mend http://mirror:5000, whose own log says why, or name another mirror in runtime.registries',
  ]);
});

test('the remedy names resolution, routes and proxy only where nothing answered', () => {
  const silent = (name: string) => image(name, [MIRROR, 'silent', 'curl: (7) Connection refused']);
  expect(told(silent('pause'), silent('coredns'))).toEqual([
    'error: cannot get 2 images (registry.k8s.io/pause, registry.k8s.io/coredns): http://mirror:5000: curl: (7) Connection refused → nothing answered: check name resolution, routes, proxy and mirrors of the host',
  ]);
  expect(told(image('pause', [MIRROR, 'refused', 'is not given to the login of the inventory (401yes)']))[0]).toContain(
    'correct username and password',
  );
});

test('images that a registry does not have are named one by one', () => {
  const missing = names.map((name) => image(name, [MIRROR, 'missing', 'is not there (404)']));
  expect(told(...missing)).toHaveLength(4);
  expect(told(...missing)[0]).toContain('→ put it there, or correct version, repository or mirrors in the inventory');
});

test('an image that is there for other architectures only is an error, with the way to copy it whole', () => {
  const found = told(
    image(
      'pause',
      [MIRROR, 'foreign', 'has it for amd64'],
      ['https://registry.k8s.io', 'silent', 'curl: (28) timed out'],
    ),
  );
  expect(found[0]).toMatch(
    /^error: cannot get registry\.k8s\.io\/pause: http:\/\/mirror:5000\/v2\/pause\/manifests\/1: has it for amd64; .* → copy the image for all architectures \(crane copy, skopeo copy --all\)/,
  );
});
