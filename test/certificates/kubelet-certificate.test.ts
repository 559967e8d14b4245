import { describe, expect, test } from 'vitest';
import {
  kubeletCertificateOfControlPlane,
  kubeletCertificateOfWorker,
} from '../../src/certificates/kubelet-client.step.ts';
import { certificateOf } from '../fakes/certificate.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  nodeOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const NOW = Date.parse('2026-11-22T00:00:00Z');
const inventory = inventoryOf();
const down = { state: 'down', reason: 'x509: certificate has expired' } as const;
const ended = [certificateOf('kubelet-client', '2026-11-01T00:00:00.000Z')];
const valid = [certificateOf('kubelet-client', '2027-11-01T00:00:00.000Z')];
type Certificates = readonly ReturnType<typeof certificateOf>[];

const both = clusterOf({ nodes: [...clusterOf().nodes, nodeOf({ name: 'w1', role: 'worker' })] });

const onControlPlane = (certificates: Certificates, cluster: Parameters<typeof fleetIn>[0] = down) =>
  targetOf(inventory, cp1, fleetIn(cluster, [cp1, joinedControlPlane({ nowMs: NOW, certificates })]));
const onWorker = (certificates: Certificates, cluster: Parameters<typeof fleetIn>[0] = both) =>
  targetOf(inventory, w1, fleetIn(cluster, joinedHost(cp1), [w1, joinedWorker({ nowMs: NOW, certificates })]));

describe('the kubelet of a control plane whose certificate', () => {
  test('has ended, or is gone, gets one that its own host signs: the API may be away because of it', async () => {
    const changes = [ended, []].map((found) => kubeletCertificateOfControlPlane.diff(onControlPlane(found))[0]!);
    expect(changes.map(({ summary }) => summary)).toEqual([
      'sign a new certificate for the kubelet of cp1 (found one that ended 2026-11-01T00:00:00.000Z)',
      'sign a new certificate for the kubelet of cp1 (found none)',
    ]);
    const { on, sent } = recordingOn();
    await changes[0]!.apply!(on);
    const [job] = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
    expect(job!.script).toContain('--client-name "system:node:$NODE"');
    expect(job!.script.trim().endsWith('systemctl restart kubelet')).toBe(true);
  });

  test('is valid is left alone, and so is that of a worker by this step', () => {
    expect(kubeletCertificateOfControlPlane.diff(onControlPlane(valid))).toEqual([]);
    expect(kubeletCertificateOfControlPlane.diff(onWorker(ended))).toEqual([]);
  });
});

describe('the kubelet of a worker whose certificate', () => {
  test('has ended asks for a new one with a token, which no command line shows', async () => {
    const [change] = kubeletCertificateOfWorker.diff(onWorker(ended));
    expect(change!.summary).toBe(
      'get the kubelet of w1 a new certificate (found one that ended 2026-11-01T00:00:00.000Z)',
    );
    const { on, sent } = recordingOn({ run: () => 'abcdef.0123456789abcdef' });
    await change!.apply!(on);
    const [job] = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
    expect(String(job!.files['bootstrap'])).toContain('abcdef.0123456789abcdef');
    expect(sent.flatMap((one) => ('script' in one ? [one.script] : [])).join('\n')).not.toContain('0123456789abcdef');
    expect(sent.flatMap((one) => ('script' in one ? [one.script] : [])).at(-1)).toContain('bootstrap-token-abcdef');
  });

  test('is valid is left alone', () => {
    expect(kubeletCertificateOfWorker.diff(onWorker(valid))).toEqual([]);
  });

  test('waits for the API', () => {
    expect(kubeletCertificateOfWorker.diff(onWorker(ended, down))).toEqual([
      { summary: 'wait for the API server to answer (x509: certificate has expired)' },
    ]);
  });

  test('gets none where its node was deleted: it would register with addresses that others may have', () => {
    const cluster = clusterOf({ nodes: [nodeOf({ name: 'cp1' })] });
    expect(kubeletCertificateOfWorker.diff(onWorker(ended, cluster))).toEqual([]);
  });
});
