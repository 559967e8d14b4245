import { isDropping } from '../../cluster/rotation.ts';
import { standing } from '../../cluster/standing.ts';
import { keepAuthority, newAuthority } from '../../configuration/authority.ts';
import { applySettings } from '../../configuration/kubeadm-settings.ts';
import { beforeKubeletsServe } from '../../configuration/kubelet-authority.ts';
import { ABOUT_MS } from '../../engine/restarts.ts';
import type { Step, Target } from '../../engine/step.ts';
import { Refused } from '../../errors.ts';
import { observedLinux } from '../../facts/fleet.ts';
import { AUTHORITY_FILES } from '../../facts/linux/authorities.ts';
import type { LinuxHost } from '../../model/inventory.ts';
import type { On } from '../../remote/remote.ts';
import { Secret } from '../../shell/secret.ts';
import { sh } from '../../shell/sh.ts';
import { bundleText } from './placed.ts';
import { SIGNING, underWay, withSigning, type Rotating } from './rotating.ts';

/** The control plane that holds the new authority with its key. */
const holderOf = ({ fleet, host }: Target, { name }: Rotating): LinuxHost | undefined =>
  observedLinux(fleet).find(({ host: other, facts }) => {
    const { beside, keys } = facts.authorities.files[name];
    return other.name !== host.name && beside.fresh !== undefined && keys.fresh !== undefined;
  })?.host;

async function prepare(target: Target, rotating: Rotating, on: On): Promise<void> {
  const { inventory, host, facts } = target;
  const { name, subject, keep } = rotating;
  const remote = on(host);
  await keep(on, host);
  const { bundle, beside, keys } = facts.authorities.files[name];
  if (beside.fresh !== undefined && keys.fresh !== undefined) {
    await remote.job('keep-authority', keepAuthority(name));
    return;
  }
  const holder = holderOf(target, rotating);
  if (holder !== undefined) {
    const file = `/etc/kubernetes/pki/${AUTHORITY_FILES[name]}-new`;
    const certificate = Secret.of(await on(holder).read(`${file}.crt`));
    const key = await on(holder).reveal(sh`cat ${`${file}.key`}`);
    await remote.job('keep-authority', keepAuthority(name), { 'new.crt': certificate, 'new.key': key });
    return;
  }
  if (underWay(target, rotating) !== undefined)
    throw new Refused(
      host.name,
      `a rotation of ${name} has begun, and no control plane has the key of the new authority`,
      `take it back: \`kbuild certs rotate-ca ${name} --rollback\``,
    );
  await remote.job('new-authority', newAuthority(inventory, name, { old: bundle[0]!, subject }));
  await remote.job('keep-authority', keepAuthority(name));
}

/** Both authorities, with their keys, lie beside the file of every control plane: the first makes the new one. Nothing uses it yet. */
export const authorityPrepared = (rotating: Rotating): Step => ({
  name: 'authority-prepared',
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, facts, fleet } = target;
    const { name, direction } = rotating;
    const rotation = underWay(target, rotating);
    if (direction === 'back' || standing(target) !== 'joined') return [];
    if (rotation !== undefined && isDropping(fleet, name, rotation)) return [];
    const { bundle, beside, keys } = facts.authorities.files[name];
    const has = (['old', 'fresh', 'signing'] as const).every(
      (what) => beside[what] !== undefined && keys[what] !== undefined,
    );
    if (has) return [];
    return [
      {
        summary:
          rotation === undefined
            ? `keep a new authority ${name} beside the old one on ${host.name} (found ${bundleText(bundle)} alone)`
            : `keep ${rotation.fresh.subject} beside the old authority ${name} on ${host.name} (found ${bundleText(bundle)})`,
        apply: (on) => prepare(target, rotating, on),
      },
    ];
  },
});

/** The controller manager of a control plane signs with files of its own, because the file of the CA is about to hold two certificates. */
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
        summary: `have the controller manager of ${host.name} sign with ${SIGNING['cluster-signing-cert-file']} (found ${signing})`,
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
