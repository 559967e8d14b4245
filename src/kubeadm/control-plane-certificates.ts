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
 * Where an authority signs elsewhere, kubeadm cannot renew: the certificates of a joined control plane hold for more than
 * 30 days, else they are made anew with new keys. The API server reads its own again by itself; the controller manager and
 * the scheduler start again.
 */
export const controlPlaneCertificates: Step = {
  name: 'control-plane-certificates',
  needs: 'whole-control-plane',
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (signingAuthority(inventory) === undefined || standing(target) !== 'joined') return [];
    const due = RENEWED.flatMap((name) => {
      const found = facts.certificates.find((one) => one.name === name);
      const days = found === undefined ? Infinity : daysLeft(Date.parse(found.expires), facts.nowMs);
      return days > RENEWED_AT_DAYS ? [] : [{ name, found: days < 0 ? 'expired' : `${String(days)} days left` }];
    });
    if (due.length === 0) return [];
    const names = due.map(({ name }) => name);
    return [
      {
        summary: `renew certificates of the control plane on ${host.name}: ${due.map(({ name, found }) => `${name} (found ${found})`).join(', ')}`,
        restarts: restartedBy(names).map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
        apply: async (on) => {
          const signed = await signedCertificates(on(host), inventory, names);
          await on(host).job('renew-certificates', placeCertificates(inventory, host, names), signed);
        },
      },
    ];
  },
};
