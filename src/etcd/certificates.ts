import { etcdDocuments } from '../configuration/etcd-config.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import type { Step, Target } from '../engine/step.ts';
import { ETCD_SIGNING, type EtcdPki } from '../facts/linux/etcd-pki.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { daysLeft, RENEWED_AT_DAYS } from '../shell/expiry.ts';
import { script } from '../templates.ts';

/** Certificates of a member, and kubeadm's phases that make them. */
const PHASES = {
  server: 'etcd-server',
  peer: 'etcd-peer',
  'healthcheck-client': 'etcd-healthcheck-client',
} as const;

/** What is wrong with a certificate that must be for these names; undefined: nothing. */
export function flaw(pki: EtcdPki | 'not asked', name: string, names: readonly string[] = []): string | undefined {
  if (pki === 'not asked') return 'none';
  const found = pki.certificates.find((one) => one.name === name);
  if (found === undefined) return 'none';
  if (pki.isUnfinished) return 'its signing was cut off';
  if (!found.hasKey) return 'no key';
  if (!found.isIssued) return 'of another authority';
  const missing = names.find((one) => !found.names.includes(one));
  if (missing !== undefined) return `not for ${missing}`;
  const days = daysLeft(found.expiresMs, pki.nowMs);
  if (days < 0) return 'expired';
  return days <= RENEWED_AT_DAYS ? `${String(days)} days left` : undefined;
}

const namesOf = (host: LinuxHost): readonly string[] => [host.name, 'localhost', host.internalAddress, '127.0.0.1'];

function flaws({ host, facts }: Target): readonly { readonly name: keyof typeof PHASES; readonly found: string }[] {
  return (Object.keys(PHASES) as readonly (keyof typeof PHASES)[]).flatMap((name) => {
    const found = flaw(facts.etcdPki, name, name === 'healthcheck-client' ? [] : namesOf(host));
    return found === undefined ? [] : [{ name, found }];
  });
}

/**
 * The certificates of a host's member, signed on the host itself: issued by etcd's authority, for its name and addresses,
 * and good for more than 30 days. etcd reads them anew with every connection, so it is not restarted.
 */
export const etcdCertificates: Step = {
  name: 'etcd-certificates',
  diff: (target) => {
    const { inventory, host } = target;
    const due = flaws(target);
    if (due.length === 0) return [];
    return [
      {
        summary: `sign etcd's certificates of ${host.name}: ${due.map(({ name, found }) => `${name} (found ${found})`).join(', ')}`,
        apply: async (on) => {
          await on(host).job(
            'etcd-certificates',
            script('linux/etcd-certificates.sh', {
              SIGN: due.map(({ name }) => PHASES[name]),
              STAGING: ETCD_SIGNING,
            }),
            { 'config.yaml': secretYaml(etcdDocuments(inventory, host, { certificatesDir: ETCD_SIGNING })) },
          );
        },
      },
    ];
  },
};
