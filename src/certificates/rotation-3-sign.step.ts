import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { clusterConfiguration, initConfiguration } from '../kubeadm/config.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { authorityOf, RENEWED_NAMES, type RenewedName } from './authorities.value.ts';
import { announcedCas, podsCas } from './cluster-info.step.ts';
import { renewCertificates } from './leaves.ts';
import { place, PLACED_SETTLE_MS } from './place-authority.step.ts';
import { planned, type Rotating, underWay } from './rotation.step.ts';
import { endOf, isDropping, notSigningWith, notTrusting, type Rotation, trusts } from './rotation.ts';

/** The certificates of a control plane that an authority signs and that are not signed by this one. */
function otherLeaves({ facts }: Target, { name }: Rotating, issuer: string): readonly RenewedName[] {
  const own = RENEWED_NAMES.filter((one) => authorityOf(one) === name);
  return own.filter((one) => {
    const found = facts.certificates.find((certificate) => certificate.name === one);
    return found !== undefined && found.issuer !== issuer;
  });
}

/** The reasons why a control plane does not sign with the remaining authority yet, as text after "found". */
function flawsOf(target: Target, rotating: Rotating, rotation: Rotation): readonly string[] {
  const { name, direction } = rotating;
  const { survivor, loser } = endOf(rotation, direction);
  const { bundle, beside, keys } = target.facts.authorities.files[name];
  const key = direction === 'forward' ? keys.fresh : keys.old;
  const isFirst = bundle[0]?.fingerprint === survivor.fingerprint;
  const hasKey = key === undefined ? isFirst : keys.current === key;
  const signsApart = beside.signing !== undefined && beside.signing.fingerprint !== survivor.fingerprint;
  const leaves = otherLeaves(target, rotating, survivor.subject);
  return [
    ...(isFirst && hasKey && !signsApart ? [] : [`it signs with ${loser.subject}`]),
    ...(leaves.length === 0 ? [] : [`${leaves.join(', ')} signed by ${loser.subject}`]),
  ];
}

/** @throws Refused while a host, or a CA that the cluster publishes, does not include the authority that will sign */
function refuseUntrusted(
  { inventory, fleet }: Target,
  { name }: Rotating,
  { survivor }: ReturnType<typeof endOf>,
): void {
  const blind = notTrusting(fleet, name, survivor);
  if (blind.length > 0)
    throw new Refused(
      'rotation-order',
      blind.join(', '),
      `${survivor.subject} cannot sign yet: it is not trusted here`,
      'run the same command again: it completes the earlier steps first',
    );
  const { cluster } = fleet;
  if (name !== 'ca' || cluster.state !== 'up') return;
  const told = [announcedCas(cluster) ?? [survivor], podsCas(cluster)];
  if (told.every((all) => all.some(({ fingerprint }) => fingerprint === survivor.fingerprint))) return;
  throw new Refused(
    'rotation-order',
    inventory.name,
    `${survivor.subject} cannot sign yet: hosts that join, or pods, are not told to trust it`,
    'run the same command again: it completes the earlier steps first',
  );
}

async function sign(target: Target, rotating: Rotating, rotation: Rotation, on: On): Promise<void> {
  const { inventory, host, facts } = target;
  const { name, direction } = rotating;
  const end = endOf(rotation, direction);
  refuseUntrusted(target, rotating, end);
  const files = facts.authorities.files[name];
  const bundle = trusts(files, end.loser) ? [end.survivor, end.loser] : [end.survivor];
  const signer = direction === 'forward' ? 'fresh' : 'old';
  await place(
    target,
    {
      name,
      bundle,
      pods: [],
      restartsKubelet: false,
      // A control plane without files of the rotation keeps the key that it has.
      ...(files.beside[signer] === undefined ? {} : { signer }),
    },
    on,
  );
  const leaves = otherLeaves(target, rotating, end.survivor.subject);
  if (leaves.length === 0) return;
  const config = secretYaml([initConfiguration(inventory, host), clusterConfiguration(inventory)]);
  await on(host).job('renew-certificates', renewCertificates(inventory, host, leaves), { 'config.yaml': config });
}

/**
 * Lets a control plane sign with the remaining authority, which becomes the first in its file, and renews its own
 * certificates from it. Restarts only the components whose certificates are in their kubeconfigs.
 */
export const survivorSigns = (rotating: Rotating): Step => ({
  name: 'survivor-signs',
  settleMs: PLACED_SETTLE_MS,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, fleet } = target;
    const { name, direction } = rotating;
    if (host.role !== 'control-plane' || standing(target) !== 'joined') return [];
    const restarts =
      name === 'ca' ? [{ what: 'controller manager, scheduler', hosts: [host.name], aboutMs: ABOUT_MS.pod }] : [];
    const rotation = underWay(target, rotating);
    if (rotation === undefined)
      return planned(rotating, `sign with the new authority ${name} on ${host.name}, its own certificates first`, {
        disrupts: true,
        restarts,
      });
    if (direction === 'forward' && isDropping(fleet, name, rotation)) return [];
    const flaws = flawsOf(target, rotating, rotation);
    if (flaws.length === 0) return [];
    return [
      {
        summary:
          `sign with ${endOf(rotation, direction).survivor.subject} as ${name} on ${host.name}, its own ` +
          `certificates first (found ${flaws.join('; ')})`,
        disrupts: true,
        restarts,
        apply: (on) => sign(target, rotating, rotation, on),
      },
    ];
  },
});

/** The certificates of a host's kubelet that were signed by the authority that the rotation removes. */
const kubeletLeaves = ({ facts }: Target, issuer: string): readonly string[] =>
  facts.certificates
    .filter(({ name, issuer: found }) => (name === 'kubelet-client' || name === 'kubelet-server') && found === issuer)
    .map(({ name }) => name);

/**
 * Gives a kubelet certificates from the remaining authority: it requests a new one from the cluster, as it does every
 * year.
 */
export const kubeletSigned = (rotating: Rotating): Step => ({
  name: 'kubelet-signed',
  settleMs: 60_000,
  diff: (target): readonly Change[] => {
    const { host, fleet } = target;
    const { name, direction } = rotating;
    if (name !== 'ca' || (host.role !== 'control-plane' && host.role !== 'worker') || standing(target) !== 'joined')
      return [];
    const restarts = [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }];
    const why = `get the kubelet of ${host.name} a certificate of`;
    const rotation = underWay(target, rotating);
    if (rotation === undefined) return planned(rotating, `${why} the new authority`, { disrupts: true, restarts });
    const { survivor, loser } = endOf(rotation, direction);
    const old = kubeletLeaves(target, loser.subject);
    if (old.length === 0) return [];
    return [
      {
        summary: `${why} ${survivor.subject} (found ${old.join(', ')} signed by ${loser.subject})`,
        disrupts: true,
        restarts,
        apply: async (on) => {
          const others = notSigningWith(fleet, name, survivor);
          if (others.length > 0)
            throw new Refused(
              'rotation-order',
              others.join(', '),
              `the controller manager may still sign with ${loser.subject} here`,
              'run the same command again: it completes the earlier steps first',
            );
          await on(host).job(
            'kubelet-certificate',
            script('certificates/kubelet-certificate.sh', {
              NODE: host.name,
              SERVING: old.includes('kubelet-server') ? 'yes' : '',
              REQUEST: `kbuild-${host.name}-`,
            }),
          );
        },
      },
    ];
  },
});
