import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { Refused } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { AuthorityCertificate, AuthorityFiles, RotatedName } from './certificates.facts.ts';

/** The direction of a rotation: `forward` ends with the new authority, `back` with the old one. */
export type Direction = 'forward' | 'back';

/** The two authorities of a rotation. */
export interface Rotation {
  readonly old: AuthorityCertificate;
  readonly fresh: AuthorityCertificate;
}

/** A Linux host of the fleet. */
interface Seen {
  readonly host: LinuxHost;
  readonly facts: LinuxFacts;
}

const filesOn = ({ facts }: Pick<Seen, 'facts'>, name: RotatedName): AuthorityFiles => facts.authorities.files[name];

const same = (one: AuthorityCertificate | undefined, other: AuthorityCertificate): boolean =>
  one?.fingerprint === other.fingerprint;

/** True if the host trusts an authority, by any certificate of its key. */
export const trusts = ({ bundle }: Pick<AuthorityFiles, 'bundle'>, authority: AuthorityCertificate): boolean =>
  bundle.some((one) => same(one, authority));

const onControlPlanes = (fleet: Fleet): readonly Seen[] =>
  observedLinux(fleet).filter(({ host }) => host.role === 'control-plane');

/**
 * The running rotation of an authority: the control planes keep both authorities until it has ended. undefined if none
 * is running. @throws Refused for files that kbuild did not put there
 */
export function rotationOf(fleet: Fleet, name: RotatedName): Rotation | undefined {
  const controls = onControlPlanes(fleet);
  const holder = controls.find((seen) => filesOn(seen, name).beside.fresh !== undefined);
  if (holder === undefined) {
    const several = controls.find((seen) => filesOn(seen, name).bundle.length > 1);
    if (several === undefined) return undefined;
    throw new Refused(
      'foreign-rotation',
      several.host.name,
      `it trusts ${String(filesOn(several, name).bundle.length)} ` +
        `${name === 'sa' ? 'public keys' : 'certificates'} as ${name}, and no rotation of kbuild is under way`,
      'end the rotation that another tool or person has begun: one ' +
        `${name === 'sa' ? 'public key' : 'certificate'} must be left in the file`,
    );
  }
  const fresh = filesOn(holder, name).beside.fresh!;
  const other = controls.find((seen) => {
    const found = filesOn(seen, name).beside.fresh;
    return found !== undefined && !same(found, fresh);
  });
  if (other !== undefined)
    throw new Refused(
      'different-authorities',
      `${holder.host.name}, ${other.host.name}`,
      `they hold different new authorities ${name}`,
      'find out which one the hosts trust, and remove the files of the other (-new) on its host',
    );
  const old =
    controls.map((seen) => filesOn(seen, name).beside.old).find((one) => one !== undefined) ??
    controls.flatMap((seen) => filesOn(seen, name).bundle).find((one) => !same(one, fresh));
  return old === undefined ? undefined : { old, fresh };
}

/** The authority that remains at the end, and the one that the rotation removes. */
export const endOf = ({ old, fresh }: Rotation, direction: Direction) =>
  direction === 'forward' ? { survivor: fresh, loser: old } : { survivor: old, loser: fresh };

/** True once a host no longer trusts the old authority: from then on there is no way back. */
export const isDropping = (fleet: Fleet, name: RotatedName, { old, fresh }: Rotation): boolean =>
  observedLinux(fleet).some((seen) => {
    const files = filesOn(seen, name);
    return trusts(files, fresh) && !trusts(files, old);
  });

/** True once a control plane signs with the new authority. */
export const isSigning = (fleet: Fleet, name: RotatedName, { fresh }: Rotation): boolean =>
  onControlPlanes(fleet).some((seen) => same(filesOn(seen, name).bundle[0], fresh));

/** The stage of a rotation, as text for operators; `none` if no rotation is running. */
type Stage = 'none' | 'begun' | 'both are trusted' | 'the new one signs' | 'the old one goes';

/** The stage of a rotation: that of the most advanced host. */
export function stageOf(fleet: Fleet, name: RotatedName): Stage {
  const rotation = rotationOf(fleet, name);
  if (rotation === undefined) return 'none';
  if (isDropping(fleet, name, rotation)) return 'the old one goes';
  if (isSigning(fleet, name, rotation)) return 'the new one signs';
  const trusted = observedLinux(fleet).some((seen) => trusts(filesOn(seen, name), rotation.fresh));
  return trusted ? 'both are trusted' : 'begun';
}

/**
 * Names of the hosts that must trust an authority and do not: nodes for that of the cluster, control planes for the
 * others.
 */
export const notTrusting = (fleet: Fleet, name: RotatedName, authority: AuthorityCertificate): readonly string[] =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane' || (name === 'ca' && host.role === 'worker'))
    .filter((seen) => !trusts(filesOn(seen, name), authority))
    .map(({ host }) => host.name);

/** Certificates that an authority has signed, as `host: name`; not those of authorities. */
export const signedBy = (fleet: Fleet, authority: AuthorityCertificate): readonly string[] =>
  observedLinux(fleet).flatMap(({ host, facts }) =>
    facts.certificates
      .filter(({ issuer, subject }) => issuer === authority.subject && subject !== issuer)
      .map((certificate) => `${host.name}: ${certificate.name}`),
  );

/**
 * SHA-256 of the file with the old or the new private key, from a control plane that keeps it; undefined if none does.
 */
export const keyHash = (fleet: Fleet, name: RotatedName, which: 'old' | 'fresh'): string | undefined =>
  onControlPlanes(fleet)
    .map((seen) => filesOn(seen, name).keys[which])
    .find((hash) => hash !== undefined);

/** True while a control plane keeps files of a rotation that is under way. */
export const isRotated = (fleet: Fleet, name: RotatedName): boolean =>
  onControlPlanes(fleet).some((seen) => filesOn(seen, name).beside.fresh !== undefined);

/** Names of the control planes that do not sign with an authority: kubeadm, or the controller manager. */
export const notSigningWith = (fleet: Fleet, name: RotatedName, authority: AuthorityCertificate): readonly string[] =>
  onControlPlanes(fleet)
    .filter((seen) => {
      const { bundle, beside } = filesOn(seen, name);
      return !same(bundle[0], authority) || (beside.signing !== undefined && !same(beside.signing, authority));
    })
    .map(({ host }) => host.name);
