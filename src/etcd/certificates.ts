import { etcdDocuments } from '../configuration/etcd-config.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import type { Step, Target } from '../engine/step.ts';
import { ETCD_SIGNING, type EtcdPki } from '../facts/linux/etcd-pki.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { daysLeft, RENEWED_AT_DAYS } from '../shell/expiry.ts';
import { script } from '../templates.ts';

/** Certificates of a member, and kubeadm's phases that create them. */
const PHASES = {
  server: 'etcd-server',
  peer: 'etcd-peer',
  'healthcheck-client': 'etcd-healthcheck-client',
} as const;

/** Why a certificate must be signed again, which must name `names`; undefined if it is good. */
export function certificateFlaw(
  pki: EtcdPki | 'not asked',
  name: string,
  names: readonly string[] = [],
): string | undefined {
  if (pki === 'not asked') return 'none';
  const found = pki.certificates.find((certificate) => certificate.name === name);
  if (found === undefined) return 'none';
  if (pki.isUnfinished) return 'its signing was cut off';
  if (!found.hasKey) return 'no key';
  if (!found.isIssued) return 'of another authority';
  const missing = names.find((required) => !found.names.includes(required));
  if (missing !== undefined) return `not for ${missing}`;
  const days = daysLeft(found.expiresMs, pki.nowMs);
  if (days < 0) return 'expired';
  return days <= RENEWED_AT_DAYS ? `${String(days)} days left` : undefined;
}

const namesOf = (host: LinuxHost): readonly string[] => [host.name, 'localhost', host.internalAddress, '127.0.0.1'];

const flaws = ({ host, facts }: Target) =>
  (Object.keys(PHASES) as readonly (keyof typeof PHASES)[]).flatMap((name) => {
    const flaw = certificateFlaw(facts.etcdPki, name, name === 'healthcheck-client' ? [] : namesOf(host));
    return flaw === undefined ? [] : [{ name, flaw }];
  });

/**
 * Signs the certificates of a host's member on the host itself, for its name and addresses, and again when they have at most
 * 30 days left. etcd reads them again for every connection, so it does not restart.
 */
export const etcdCertificates: Step = {
  name: 'etcd-certificates',
  diff: (target) => {
    const { inventory, host } = target;
    const found = flaws(target);
    if (found.length === 0) return [];
    return [
      {
        summary: `sign etcd's certificates of ${host.name}: ${found.map(({ name, flaw }) => `${name} (found ${flaw})`).join(', ')}`,
        apply: async (on) => {
          await on(host).job(
            'etcd-certificates',
            script('linux/etcd-certificates.sh', {
              SIGN: found.map(({ name }) => PHASES[name]),
              STAGING: ETCD_SIGNING,
            }),
            { 'config.yaml': secretYaml(etcdDocuments(inventory, host, { certificatesDir: ETCD_SIGNING })) },
          );
        },
      },
    ];
  },
};
