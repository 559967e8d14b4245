import { describe, expect, test } from 'vitest';
import { kubeletRequests } from '../../src/certificates/kubelet-serving.step.ts';
import { leavesOf } from '../../src/certificates/leaves.ts';
import { renewedCertificates } from '../../src/certificates/renew.step.ts';
import { ownAuthorityFiles } from '../../src/certificates/shared-files.ts';
import { joinConfiguration } from '../../src/kubeadm/config.ts';
import { kubeadmJob } from '../../src/kubeadm/run-kubeadm.step.ts';
import { type KubeletRequest, parseKubeletRequests } from '../../src/kubeadm/kubelet.facts.ts';
import { Secret } from '../../src/shell/secret.ts';
import { certificateOf } from '../fakes/certificate.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const sign = () => Promise.resolve('');
const elsewhere = inventoryOf({
  certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000, ca: { cert: 'CERT', sign } },
});
const ofEtcd = inventoryOf({
  certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000, etcdCa: { cert: 'CERT', sign } },
});
const NOW = Date.parse('2026-11-22T00:00:00Z');
const DAY = 86_400_000;
const inDays = (days: number): string => new Date(NOW + days * DAY).toISOString();

describe('with an external certificate authority', () => {
  test('no key of it is among the files of init', () => {
    expect(Object.keys(ownAuthorityFiles(elsewhere))).toEqual(['pki_ca.crt']);
  });

  test('a founder has everything kubeadm cannot make, further control planes no super-admin.conf, workers their kubelet’s alone', () => {
    expect(leavesOf(cp1, 'init')).toEqual([
      'apiserver',
      'apiserver-kubelet-client',
      'admin.conf',
      'controller-manager.conf',
      'scheduler.conf',
      'front-proxy-client',
      'apiserver-etcd-client',
      'etcd-server',
      'etcd-peer',
      'etcd-healthcheck-client',
      'kubelet.conf',
      'super-admin.conf',
    ]);
    expect(leavesOf(cp1, 'join')).not.toContain('super-admin.conf');
    expect(leavesOf(w1, 'join')).toEqual(['kubelet.conf']);
  });

  test('kubeadm’s job puts certificates in their places before kubeadm starts, and joins with the kubeconfig that is there', async () => {
    const { on, sent } = recordingOn();
    await kubeadmJob(on(w1), elsewhere, 'join', Secret.of(''));
    await kubeadmJob(on(w1), inventoryOf(), 'join', Secret.of(''));
    const [signed, ordinary] = sent.map((one) => (one.kind === 'job' ? one.script : ''));
    expect(signed).toContain('IGNORED=FileAvailable--etc-kubernetes-kubelet.conf');
    expect(signed).toContain('put_kubelet');
    expect(ordinary).toContain("IGNORED=''");
    expect(ordinary).toContain("PLACE=''");
  });

  test('with one for etcd alone kubelets join as they always do', async () => {
    const { on, sent } = recordingOn();
    await kubeadmJob(on(cp1), ofEtcd, 'join', Secret.of(''));
    const [job] = sent.map((one) => (one.kind === 'job' ? one.script : ''));
    expect(job).toContain("IGNORED=''");
    expect(job).toContain('etcd-*) name=etcd/');
  });

  test('a join is as patient with the API as it was with a kubelet’s first certificate', () => {
    const credentials = { token: Secret.of('t'), caHash: 'sha256:a' };
    expect(joinConfiguration(elsewhere, cp1, credentials)).toMatchObject({ timeouts: { kubernetesAPICall: '5m0s' } });
    expect(joinConfiguration(inventoryOf(), cp1, credentials)).not.toHaveProperty('timeouts');
  });
});

describe('certificates of a control plane', () => {
  const certificates = (days: Readonly<Record<string, number>>) =>
    Object.entries(days).map(([name, left]) => certificateOf(name, inDays(left)));
  const due = (days: Readonly<Record<string, number>>, inventory = elsewhere) => {
    const facts = joinedControlPlane({ certificates: certificates(days), nowMs: NOW });
    return renewedCertificates
      .diff(targetOf(inventory, cp1, fleetIn(clusterOf(), [cp1, facts])))
      .map(({ summary }) => summary);
  };

  test('with 31 days left are not renewed', () => {
    expect(due({ apiserver: 31, 'admin.conf': 31, 'kubelet-client': 1 })).toEqual([]);
  });

  test('with at most 30 days left are renewed', () => {
    expect(due({ apiserver: 30, 'super-admin.conf': -2, 'scheduler.conf': 300 })).toEqual([
      'renew certificates of the control plane on cp1: apiserver (found 30 days left), super-admin.conf (found expired)',
    ]);
  });

  test('are asked of the authority that signs each of them', async () => {
    const facts = joinedControlPlane({ certificates: certificates({ apiserver: 3, 'etcd-server': 3 }), nowMs: NOW });
    const target = targetOf(ofEtcd, cp1, fleetIn(clusterOf(), [cp1, facts]));
    const { on, sent } = recordingOn({ run: () => '' });
    // The answer holds no request: nothing is signed, and it names the certificate of etcd alone.
    await expect(renewedCertificates.diff(target)[0]!.apply!(on)).rejects.toThrow(
      'its request for etcd-server cannot be read',
    );
    const [asked] = sent.map((one) => ('script' in one ? one.script : ''));
    expect(asked).toMatch(/NAMES=etcd-server\n/);
  });

  test('are not renewed on a host that has not joined', () => {
    const target = targetOf(elsewhere, cp1, fleetOf(freshHost(cp1)));
    expect(renewedCertificates.diff(target)).toEqual([]);
  });
});

describe('a request in the cluster', () => {
  const raw = (name: string, spec: object = {}, status: object = {}, at = '2026-11-22T00:00:00Z') => ({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '9', creationTimestamp: at },
    spec: {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      username: 'system:node:w1',
      groups: ['system:nodes', 'system:authenticated'],
      usages: ['digital signature', 'client auth'],
      request: Buffer.from('PEM').toString('base64'),
      ...spec,
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }], ...status },
  });
  const names = (...items: readonly object[]) =>
    parseKubeletRequests(JSON.stringify({ items })).map(({ name }) => name);

  test('of a kubelet for itself waits until it has its certificate', () => {
    expect(parseKubeletRequests(JSON.stringify({ items: [raw('csr-1')] }))).toEqual([
      {
        profile: 'client',
        name: 'csr-1',
        uid: 'uid-csr-1',
        resourceVersion: '9',
        approved: true,
        node: 'w1',
        request: 'PEM',
      },
    ]);
    expect(names(raw('rsa', { usages: ['client auth', 'key encipherment', 'digital signature'] }))).toEqual(['rsa']);
    expect(names(raw('done', {}, { certificate: 'eA==' }))).toEqual([]);
  });

  test('counts only while no newer one of its node is there', () => {
    const older = raw('older', {}, {}, '2026-11-21T00:00:00Z');
    expect(names(raw('newer'), older)).toEqual(['newer']);
    expect(names(older, raw('newer', {}, { certificate: 'eA==' }))).toEqual([]);
  });

  test.each([
    ['for another signer', { signerName: 'kubernetes.io/kube-apiserver-client' }, {}],
    ['for a serving certificate', { signerName: 'kubernetes.io/kubelet-serving' }, {}],
    ['of a bootstrap token', { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }, {}],
    ['of an administrator', { username: 'kubernetes-admin', groups: ['kubeadm:cluster-admins'] }, {}],
    ['of a user that only has a node’s name', { groups: ['system:authenticated'] }, {}],
    ['for more uses', { usages: ['digital signature', 'client auth', 'server auth'] }, {}],
    ['that was not approved', {}, { conditions: [] }],
    ['that was denied', {}, { conditions: [{ type: 'Approved' }, { type: 'Denied' }] }],
  ])('%s is left alone', (_, spec, status) => {
    expect(names(raw('csr', spec, status))).toEqual([]);
  });

  const pending: KubeletRequest = {
    profile: 'client',
    name: 'csr-1',
    uid: 'u',
    resourceVersion: '1',
    approved: true,
    node: 'cp1',
    request: '',
  };
  const due = (inventory = elsewhere, requests = [pending]) => {
    const cluster = clusterOf({ kubeletRequests: requests });
    const fleet = fleetIn(cluster, joinedHost(cp1));
    return kubeletRequests.diff({ inventory, host: cp1, facts: cluster, fleet });
  };

  test('of a node of the cluster is signed, and only with an external certificate authority', () => {
    expect(due().map(({ summary }) => summary)).toEqual([
      'sign the next client certificate of the kubelet on cp1 (found csr-1 pending)',
    ]);
    expect(due(inventoryOf())).toEqual([]);
    expect(due(elsewhere, [{ ...pending, node: 'gone' }])).toEqual([]);
  });

  test('for the identity of another node is not signed, even if the cluster approved it', async () => {
    const { on, sent } = recordingOn();
    await expect(due()[0]!.apply!(on)).rejects.toThrow('cp1: refused: its request for kubelet cannot be read');
    expect(sent).toEqual([]);
  });
});
