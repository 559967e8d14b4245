import { expect, test } from 'vitest';
import { apiServerCertificateNames } from '../../src/certificates/renew.step.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedControlPlane, targetOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const plain = inventoryOf();
const endpoint = plain.endpoint.slice(0, plain.endpoint.lastIndexOf(':'));
const own = [...new Set(['cp1', 'kubernetes', '10.96.0.1', endpoint])];
const withNames = (...certSANs: readonly string[]) =>
  inventoryOf({ kubeadm: { ...plain.kubeadm, cluster: { apiServer: { certSANs } } } });

const targetWith = (
  inventory: typeof plain,
  names: readonly string[],
  noted: readonly string[] = [],
  certificates = [certificateOf('apiserver', '2027-06-01T00:00:00.000Z', { names })],
) =>
  targetOf(
    inventory,
    cp1,
    fleetIn(clusterOf({ settings: { cluster: { apiServer: { certSANs: noted } } } }), [
      cp1,
      joinedControlPlane({ certificates }),
    ]),
  );
const summaries = (...args: Parameters<typeof targetWith>) =>
  apiServerCertificateNames.diff(targetWith(...args)).map(({ summary }) => summary);

test('a name that the inventory gives the API servers, and that the certificate has not, is signed for', () => {
  expect(summaries(withNames('k8s.example.com'), own)).toEqual([
    'sign the certificate of the API server of cp1 for k8s.example.com (found not in it)',
  ]);
  expect(summaries(withNames('k8s.example.com'), [...own, 'k8s.example.com'])).toEqual([]);
});

test('a name that the inventory gave and gives no more is left out', () => {
  expect(summaries(plain, [...own, 'old.example.com'], ['old.example.com'])).toEqual([
    'sign the certificate of the API server of cp1 without old.example.com',
  ]);
});

test('a name that kbuild never gave stays: the cluster may have been made without it', () => {
  expect(summaries(plain, [...own, 'theirs.example.com'])).toEqual([]);
});

test('without a certificate nothing is signed', () => {
  expect(summaries(withNames('k8s.example.com'), [], [], [])).toEqual([]);
});

test('kubeadm makes the certificate by the configuration, with the names that stay', async () => {
  const { on, sent } = recordingOn();
  const target = targetWith(
    withNames('new.example.com'),
    [...own, 'theirs.example.com', 'old.example.com'],
    ['old.example.com'],
  );
  await apiServerCertificateNames.diff(target)[0]!.apply!(on);
  const [job] = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
  expect(job!.script).toContain('HOW=by-configuration');
  const config = String(job!.files['config.yaml']);
  expect(config).toContain('new.example.com');
  expect(config).toContain('theirs.example.com');
  expect(config).not.toContain('old.example.com');
});
