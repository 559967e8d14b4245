import { describe, expect, test } from 'vitest';
import { asked, nearItsEnd } from '../../src/certificates/expiry.ts';
import { controlPlaneCertificates } from '../../src/certificates/renew.step.ts';
import { Secret } from '../../src/shell/secret.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedControlPlane, targetOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const NOW = Date.parse('2026-11-22T00:00:00Z');
const DAY = 86_400_000;
const inDays = (days: number): string => new Date(NOW + days * DAY).toISOString();
const KUBEADM = inventoryOf();

const target = (days: Readonly<Record<string, number>>, inventory = KUBEADM) => {
  const certificates = Object.entries(days).map(([name, left]) => certificateOf(name, inDays(left)));
  const facts = joinedControlPlane({ certificates, nowMs: NOW });
  return targetOf(inventory, cp1, fleetIn(clusterOf(), [cp1, facts]));
};
const summaries = (days: Readonly<Record<string, number>>, inventory = KUBEADM) =>
  controlPlaneCertificates(nearItsEnd)
    .diff(target(days, inventory))
    .map(({ summary }) => summary);

describe('certificates near their end', () => {
  test('are renewed by kubeadm, those of etcd and of the front proxy too', () => {
    expect(summaries({ apiserver: 30, 'etcd-peer': 3, 'front-proxy-client': -1, 'admin.conf': 31 })).toEqual([
      'renew certificates of the control plane on cp1: apiserver (found 30 days left), front-proxy-client (found expired), etcd-peer (found 3 days left)',
    ]);
  });

  test('of a kubelet and of authorities are left alone', () => {
    expect(summaries({ 'kubelet-client': 3, 'kubelet-server': 3, kubelet: -3, ca: 3, 'etcd-ca': 3 })).toEqual([]);
  });

  test('of an etcd that is the user’s own, or on hosts of its own, are left to it', () => {
    const given = {
      topology: 'external' as const,
      endpoints: ['https://10.0.0.9:2379'],
      ca: '',
      cert: '',
      key: Secret.of(''),
    };
    expect(summaries({ 'apiserver-etcd-client': 3 }, inventoryOf({ etcd: given }))).toEqual([]);
    const built = { topology: 'built' as const, endpoints: ['https://10.0.0.9:2379'] };
    expect(summaries({ 'apiserver-etcd-client': 3 }, inventoryOf({ etcd: built }))).toEqual([]);
  });

  test('are renewed earlier if the inventory says so, but not before the last third of their life', () => {
    const early = (days: number) =>
      inventoryOf({ certificates: { distribution: 'upload', renewBeforeMs: days * DAY } });
    expect(summaries({ apiserver: 59 }, early(60))).toHaveLength(1);
    expect(summaries({ apiserver: 200 }, early(300))).toEqual([]);
  });

  test('wait for no control plane that is absent', () => {
    expect(controlPlaneCertificates(nearItsEnd).needs).toBeUndefined();
  });
});

describe('the job', () => {
  const jobOf = async (days: Readonly<Record<string, number>>, inventory = KUBEADM) => {
    const { on, sent } = recordingOn();
    await controlPlaneCertificates(nearItsEnd).diff(target(days, inventory))[0]!.apply!(on);
    return sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
  };

  test('runs kubeadm with the cluster’s own configuration, and restarts those that read theirs only when they start', async () => {
    const [job] = await jobOf({ apiserver: 1, 'scheduler.conf': 1 });
    expect(job!.script).toContain("RENEW='apiserver\nscheduler.conf'");
    expect(job!.script).toContain('KEYS=ca.key');
    expect(job!.script).toContain('RESTARTED=kube-scheduler');
    expect(job!.script).toContain("SERVED='apiserver.crt 10.0.0.11:6443'");
    expect(job!.script).toContain('kubeadm certs renew "$name" --config "$4"');
    expect(Object.keys(job!.files)).toEqual(['config.yaml']);
  });

  test('asks an authority elsewhere for what it signs, and kubeadm for the rest', async () => {
    const sign = () => Promise.reject(new Error('asked'));
    const elsewhere = inventoryOf({
      certificates: { distribution: 'copy', ca: { cert: 'CERT', sign }, renewBeforeMs: 30 * DAY },
    });
    const [job] = await jobOf({ 'front-proxy-client': 1 }, elsewhere);
    expect(job!.script).toContain('KEYS=front-proxy-ca.key');
    await expect(jobOf({ apiserver: 1 }, elsewhere)).rejects.toThrow('its request for apiserver cannot be read');
  });
});

describe('renewed because the operator asked', () => {
  const before = target({ apiserver: 300, 'etcd-server': 300 });
  const step = (names?: readonly string[]) =>
    controlPlaneCertificates(asked([{ host: cp1, facts: before.facts }], names));

  test('are all that are there, or those that were named', () => {
    expect(step().diff(before)[0]!.summary).toContain('apiserver (found 300 days left), etcd-server');
    expect(step(['etcd-server']).diff(before)[0]!.summary).not.toContain('apiserver');
  });

  test('is no certificate that has taken the place of another since', () => {
    const old = before.facts.certificates.map((one) => ({ ...one, serial: 'of one before' }));
    expect(
      controlPlaneCertificates(asked([{ host: cp1, facts: { certificates: old } }], undefined)).diff(before),
    ).toEqual([]);
  });
});

test('an authority that has itself ended signs nothing', () => {
  const all = target({ apiserver: -1, ca: -1 });
  expect(() => controlPlaneCertificates(nearItsEnd).diff(all)).toThrow(
    /the authority ca ended .* and no client trusts/,
  );
  expect(controlPlaneCertificates(nearItsEnd).diff(target({ apiserver: -1, 'etcd-ca': -1 }))).toHaveLength(1);
});
