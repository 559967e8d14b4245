import { observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { applySettings } from '../kubeadm/apply-settings.ts';
import { beforeKubeletsServe } from '../kubeadm/settings.ts';
import { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { keepAuthority, keptBeside, newAuthority } from './authority-files.ts';
import { ROTATED_FILES, type RotatedName, trustedEnd } from './certificates.facts.ts';
import { bundleText } from './place-authority.step.ts';
import { nounOf, type Rotating, SIGNING, underWay, withSigning } from './rotation.step.ts';
import { isDropping, keyHash, trusts } from './rotation.ts';

/** Another control plane that keeps the old or the new authority with its key. */
const holderOf = ({ fleet, host }: Target, { name }: Rotating, which: 'old' | 'fresh'): LinuxHost | undefined =>
  observedLinux(fleet).find(({ host: other, facts }) => {
    const { beside, keys } = facts.authorities.files[name];
    return other.name !== host.name && beside[which] !== undefined && keys[which] !== undefined;
  })?.host;

/** The files of an authority that another control plane keeps, as files of a job. */
async function carried(on: On, holder: LinuxHost, name: RotatedName, which: 'old' | 'new') {
  const file = `/etc/kubernetes/pki/${ROTATED_FILES[name]}-${which}`;
  const end = trustedEnd(name);
  return {
    [`${which}.${end}`]: Secret.of(await on(holder).read(`${file}.${end}`)),
    [`${which}.key`]: await on(holder).reveal(sh`cat ${`${file}.key`}`),
  };
}

/** True for a control plane that joined while the key of service accounts is rotated and has the new key as its own. */
const joinedWithNew = ({ fleet, facts }: Target, { name }: Rotating): boolean => {
  const { current, old } = facts.authorities.files[name].keys;
  return name === 'sa' && old === undefined && current !== undefined && current === keyHash(fleet, 'sa', 'fresh');
};

async function prepare(target: Target, rotating: Rotating, on: On): Promise<void> {
  const { inventory, host, facts } = target;
  const { name, subject, keep } = rotating;
  const remote = on(host);
  await keep(on, host);
  const { bundle, beside, keys } = facts.authorities.files[name];
  const holder = { old: holderOf(target, rotating, 'old'), new: holderOf(target, rotating, 'fresh') };
  const needsOld = joinedWithNew(target, rotating);
  const needsNew = beside.fresh === undefined || keys.fresh === undefined;
  const isUnderWay = underWay(target, rotating) !== undefined;
  if ((needsNew && isUnderWay && holder.new === undefined) || (needsOld && holder.old === undefined))
    throw new Refused(
      'rotation-key-missing',
      host.name,
      `a rotation of ${name} has begun, and no control plane has the ` +
        `${needsOld && holder.old === undefined ? 'old' : 'new'} key any more`,
      needsOld && holder.old === undefined
        ? 'bring its file sa-old.key back from the copies of /etc/kubernetes that kbuild took'
        : `take it back: \`kbuild certs rotate-ca ${name} --rollback\``,
    );
  if (needsNew && holder.new === undefined)
    await remote.job('new-authority', newAuthority(inventory, name, { old: bundle[0]!, subject }));
  await remote.job('keep-authority', keepAuthority(name), {
    ...(needsOld ? await carried(on, holder.old!, name, 'old') : {}),
    ...(needsNew && holder.new !== undefined ? await carried(on, holder.new, name, 'new') : {}),
  });
}

/**
 * Puts both authorities with their keys beside the authority's file on every control plane. The first control plane
 * makes the new authority. No component uses it yet.
 */
export const authorityPrepared = (rotating: Rotating): Step => ({
  name: 'authority-prepared',
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, facts, fleet } = target;
    const { name, direction } = rotating;
    const rotation = underWay(target, rotating);
    const files = facts.authorities.files[name];
    // On the way back, a control plane that joined meanwhile needs the old key of service accounts.
    const isNeeded = name === 'sa' && rotation !== undefined && trusts(files, rotation.fresh);
    if ((direction === 'back' && !isNeeded) || standing(target) !== 'joined') return [];
    if (direction === 'forward' && rotation !== undefined && isDropping(fleet, name, rotation)) return [];
    const { bundle, beside, keys } = files;
    const has = [...keptBeside(name), 'fresh' as const].every(
      (what) => beside[what] !== undefined && keys[what] !== undefined,
    );
    if (has) return [];
    return [
      {
        summary:
          rotation === undefined
            ? `keep a new ${nounOf(name)} beside the old one on ${host.name} (found ${bundleText(bundle)} alone)`
            : `keep ${rotation.fresh.subject} beside the old ${nounOf(name)} on ${host.name} (found ` +
              `${bundleText(bundle)})`,
        apply: (on) => prepare(target, rotating, on),
      },
    ];
  },
});

/**
 * Lets the controller manager of a control plane sign with files of its own, because the file of the CA is about to
 * contain two certificates.
 */
export const signingApart = (rotating: Rotating): Step => ({
  name: 'signing-apart',
  settleMs: 5 * 60_000,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const rotation = underWay(target, rotating);
    if (rotating.direction === 'back' || standing(target) !== 'joined') return [];
    if (rotation !== undefined && isDropping(fleet, rotating.name, rotation)) return [];
    const { signing } = facts.authorities;
    if (signing === SIGNING['cluster-signing-cert-file']) return [];
    return [
      {
        summary:
          `have the controller manager of ${host.name} sign with ${SIGNING['cluster-signing-cert-file']} (found ` +
          `${signing})`,
        disrupts: true,
        restarts: [{ what: 'controller manager', hosts: [host.name], aboutMs: ABOUT_MS.staticPod }],
        apply: async (on) => {
          const { cluster } = fleet;
          const now = cluster.state === 'up' ? beforeKubeletsServe(inventory, cluster) : inventory;
          await applySettings(on, withSigning(now), host, { job: 'signing-apart', parts: ['manifests'] });
        },
      },
    ];
  },
});
