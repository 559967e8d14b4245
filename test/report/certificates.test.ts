import { describe, expect, test } from 'vitest';
import { FactError } from '../../src/errors.ts';
import { certificatesMetrics, certificatesText, certificatesView, hasExpired } from '../../src/report/certificates.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { cp1, fleetOf, inventoryOf, joinedControlPlane, joinedWorker, w1 } from '../fakes/cluster.ts';
import { faultsIn } from '../tools/documents.ts';

const NOW = Date.parse('2026-11-22T00:00:00Z');
const inventory = inventoryOf();
const everywhere = () => true;
const view = (shown: (host: string) => boolean = everywhere) =>
  certificatesView(
    inventory,
    fleetOf(
      [
        cp1,
        joinedControlPlane({
          nowMs: NOW,
          certificates: [
            certificateOf('ca', '2036-01-01T00:00:00.000Z'),
            certificateOf('apiserver', '2026-12-01T00:00:00.000Z', { names: ['cp1', '10.0.0.11'] }),
            certificateOf('kubelet', '2026-11-01T00:00:00.000Z', { issuer: 'cp1-ca@1' }),
          ],
        }),
      ],
      [w1, joinedWorker({ nowMs: NOW, certificates: [certificateOf('kubelet-client', '2027-02-01T00:00:00.000Z')] })],
    ),
    shown,
  );

describe('the certificates of a cluster', () => {
  test('are the document that docs/schemas describes', () => {
    expect(faultsIn('certs', view())).toEqual([]);
  });

  test('are a table, the soonest end first, with who renews them', () => {
    expect(certificatesText(view())).toBe(
      `  HOST  NAME            EXPIRES     DAYS     ISSUER      RENEWED BY  NAMES
  cp1   kubelet         2026-11-01  EXPIRED  cp1-ca@1    nobody
  cp1   apiserver       2026-12-01  9        kubernetes  kbuild      cp1, 10.0.0.11
  w1    kubelet-client  2027-02-01  71       kubernetes  kubelet
  cp1   ca              2036-01-01  3327     kubernetes  you
`,
    );
  });

  test('that no program verifies may have expired', () => {
    expect(hasExpired(view())).toBe(false);
  });

  test('of some hosts can be asked for', () => {
    expect(view((host) => host === 'w1').certificates.map(({ name }) => name)).toEqual(['kubelet-client']);
  });

  test('that could not be read are unknown, not absent', () => {
    const facts = new Proxy(joinedControlPlane({ nowMs: NOW }), {
      get: (all, key) => {
        if (key === 'certificates') throw new FactError('cp1', 'certificates', 'no answer');
        return Reflect.get(all, key) as unknown;
      },
    });
    const unknown = certificatesView(inventory, fleetOf([cp1, facts]), everywhere);
    expect(certificatesText(unknown)).toContain('unknown: cp1: could not tell certificates: no answer');
    expect(certificatesMetrics(unknown, NOW)).toContain('kbuild_certificates_read{cluster="demo",host="cp1"} 0');
  });

  test('are metrics in Prometheus’ text format', () => {
    expect(certificatesMetrics(view(), NOW)).toContain(
      `# TYPE kbuild_certificate_expiration_timestamp_seconds gauge
kbuild_certificate_expiration_timestamp_seconds{cluster="demo",host="cp1",name="kubelet",issuer="cp1-ca@1",serial="of 2026-11-01T00:00:00.000Z",renewed_by="nobody"} 1793491200`,
    );
    expect(certificatesMetrics(view(), NOW)).toMatch(
      /kbuild_certificates_read_timestamp_seconds\{cluster="demo"\} 1795305600\n$/,
    );
  });
});
