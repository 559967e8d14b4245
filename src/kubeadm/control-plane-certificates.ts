import {
  CONTROL_PLANE_LEAVES,
  placeCertificates,
  restartedBy,
  signedCertificates,
  type LeafName,
} from '../configuration/signed-certificates.ts';
import { signingAuthority } from '../configuration/signing.ts';
import { daysLeft, RENEWED_AT_DAYS } from '../shell/expiry.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';

const RENEWED: readonly LeafName[] = [...CONTROL_PLANE_LEAVES, 'super-admin.conf'];

/**
 * Renews the certificates of a joined control plane, with new keys, when they have at most 30 days left. Only for an external
 * certificate authority, with which kubeadm cannot renew. The API server reads its certificates again without a restart.
 */
export const controlPlaneCertificates: Step = {
  name: 'control-plane-certificates',
  needs: 'whole-control-plane',
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (signingAuthority(inventory) === undefined || standing(target) !== 'joined') return [];
    const expiring = RENEWED.flatMap((name) => {
      const found = facts.certificates.find((certificate) => certificate.name === name);
      const days = found === undefined ? Infinity : daysLeft(Date.parse(found.expires), facts.nowMs);
      return days > RENEWED_AT_DAYS ? [] : [{ name, found: days < 0 ? 'expired' : `${String(days)} days left` }];
    });
    if (expiring.length === 0) return [];
    const names = expiring.map(({ name }) => name);
    return [
      {
        summary: `renew certificates of the control plane on ${host.name}: ${expiring.map(({ name, found }) => `${name} (found ${found})`).join(', ')}`,
        restarts: restartedBy(names).map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
        apply: async (on) => {
          const signed = await signedCertificates(on(host), inventory, names);
          await on(host).job('renew-certificates', placeCertificates(inventory, host, names), signed);
        },
      },
    ];
  },
};
