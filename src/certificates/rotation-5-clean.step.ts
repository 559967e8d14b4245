import { observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { applySettings } from '../kubeadm/apply-settings.ts';
import { beforeKubeletsServe } from '../kubeadm/settings.ts';
import { sh } from '../shell/sh.ts';
import { ROTATED_FILES, trustedEnd } from './certificates.facts.ts';
import { planned, type Rotating, SIGNING, underWay } from './rotation.step.ts';
import { endOf, trusts } from './rotation.ts';

const BESIDE = ['signing', 'old', 'new'] as const;

/**
 * The last step of a rotation. The controller manager signs with the CA's own file again, which holds one certificate.
 * kbuild then deletes the files that the rotation kept beside it, with the key of the old authority.
 */
export const rotationCleaned = (rotating: Rotating): Step => ({
  name: 'rotation-cleaned',
  settleMs: 5 * 60_000,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { name, direction } = rotating;
    if (standing(target) !== 'joined') return [];
    const isApart = name === 'ca' && facts.authorities.signing === SIGNING['cluster-signing-cert-file'];
    const restarts = [{ what: 'controller manager', hosts: [host.name], aboutMs: ABOUT_MS.staticPod }];
    const what =
      `delete what the rotation kept on ${host.name}, the key ${name === 'sa' ? '' : 'of the authority '}that is ` +
      'gone among it';
    const rotation = underWay(target, rotating);
    if (rotation === undefined && !isApart)
      return planned(rotating, what, name === 'ca' ? { disrupts: true, restarts } : {});
    const { beside, keys } = facts.authorities.files[name];
    const kept = Object.keys(beside).length > 0 || Object.keys(keys).some((key) => key !== 'current');
    if (!kept && !isApart) return [];
    return [
      {
        summary: isApart ? `${what}, and have its controller manager sign with the CA's own file` : what,
        disrupts: isApart,
        restarts: isApart ? restarts : [],
        apply: async (on) => {
          const late = observedLinux(fleet).filter(
            (seen) =>
              rotation !== undefined && trusts(seen.facts.authorities.files[name], endOf(rotation, direction).loser),
          );
          if (late.length > 0)
            throw new Refused(
              'rotation-order',
              late.map((seen) => seen.host.name).join(', '),
              'the rotation has not ended here: what it kept is still needed',
              'run the same command again: it completes the earlier steps first',
            );
          const { cluster } = fleet;
          const now = cluster.state === 'up' ? beforeKubeletsServe(inventory, cluster) : inventory;
          if (isApart) await applySettings(on, now, host, { job: 'signing-together', parts: ['manifests'] });
          // Deletes the new authority's certificate, or the new public key, last: this file marks a running rotation.
          const files = BESIDE.flatMap((one) =>
            ['key', trustedEnd(name)].map((end) => `/etc/kubernetes/pki/${ROTATED_FILES[name]}-${one}.${end}`),
          );
          await on(host).run(sh`rm -f -- ${files}; sync -- /etc/kubernetes/pki`);
        },
      },
    ];
  },
});
