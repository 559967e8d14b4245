import { randomBytes } from 'node:crypto';
import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type KubeadmAuthority, ownAuthority } from './authorities.value.ts';
import { renewedAuthority } from './authority-files.ts';
import { authorityCertificate, type AuthorityCertificate } from './certificates.facts.ts';
import { certificatesIn, shortFingerprint } from './fingerprint.value.ts';
import { leftText } from './validity.value.ts';
import {
  bundleText,
  type KeepControlPlane,
  place,
  PLACED_SETTLE_MS,
  placementRestarts,
  placing,
} from './place-authority.step.ts';

/** The certificates of an authority on the control planes. */
const onControlPlanes = (fleet: Fleet, name: KubeadmAuthority): readonly AuthorityCertificate[] =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane')
    .flatMap(({ facts }) => facts.authorities.files[name].bundle);

/** The newest certificate of an authority; undefined if there is none. */
const newestOf = (fleet: Fleet, name: KubeadmAuthority): AuthorityCertificate | undefined =>
  onControlPlanes(fleet, name).toSorted((a, b) => b.beginsMs - a.beginsMs || b.expiresMs - a.expiresMs)[0];

/** The certificates of authorities that a run replaces, by their serial numbers. */
export type Renewals = ReadonlyMap<KubeadmAuthority, ReadonlySet<string>>;

/** Prefix of the serial numbers that kbuild gives to authorities. It marks the certificates that kbuild made. */
const OWN_SERIAL = '4B55';
const SERIAL_BYTES = 16;

const DAY_MS = 24 * 60 * 60_000;

/** True for a certificate that kbuild has renewed within the last day. */
const isJustRenewed = ({ serial, beginsMs }: AuthorityCertificate, nowMs: number): boolean =>
  serial.toUpperCase().startsWith(OWN_SERIAL) && serial.length === 2 * SERIAL_BYTES && nowMs - beginsMs < DAY_MS;

/**
 * The certificates that a run must renew: those on the hosts now. If kbuild has renewed one within the last day, or if
 * the hosts differ, an earlier run was interrupted: the newest certificate is already the new one, and only has to
 * reach the other hosts. `again`: renew it even then.
 */
export function renewalsOf(
  fleet: Fleet,
  names: readonly KubeadmAuthority[],
  { nowMs, again }: { readonly nowMs: number; readonly again?: boolean | undefined },
): Renewals {
  return new Map(
    names.map((name) => {
      const serials = new Set(onControlPlanes(fleet, name).map(({ serial }) => serial));
      const newest = newestOf(fleet, name);
      const isNew = newest !== undefined && (serials.size > 1 || (again !== true && isJustRenewed(newest, nowMs)));
      return [name, isNew ? new Set([...serials].filter((serial) => serial !== newest.serial)) : serials];
    }),
  );
}

/** The certificate that every host gets: the inventory's, if it brings the CA. Undefined until a host has made it. */
function successor(
  inventory: Pick<Inventory, 'certificates'>,
  fleet: Fleet,
  name: KubeadmAuthority,
  renewals: Renewals,
): AuthorityCertificate | undefined {
  const own = ownAuthority(inventory, name);
  if (own !== undefined) return authorityCertificate(certificatesIn(own.cert)[0] ?? own.cert);
  const newest = newestOf(fleet, name);
  return newest === undefined || renewals.get(name)?.has(newest.serial) === true ? undefined : newest;
}

/**
 * The certificate with a new expiry, from the output of the job. @throws Refused if the key on the host is not the
 * authority's
 */
function checked(host: string, printed: string, old: AuthorityCertificate): AuthorityCertificate {
  const made = authorityCertificate(certificatesIn(printed)[0] ?? printed);
  if (made.fingerprint !== old.fingerprint)
    throw new Refused(
      'authority-key-mismatch',
      host,
      `the key of the authority ${old.subject} on this host is not that of its certificate`,
      'bring the right key back from a backup or from another control plane',
    );
  return made;
}

/** @throws Refused for a host with another key: what it has signed would no longer be trusted */
function refuseOtherKey({ host, facts }: Target, name: KubeadmAuthority, next: AuthorityCertificate): void {
  const other = facts.authorities.files[name].bundle.find(({ fingerprint }) => fingerprint !== next.fingerprint);
  if (other === undefined) return;
  throw new Refused(
    'different-authorities',
    host.name,
    `its authority ${name} is ${other.subject} (${shortFingerprint(other.fingerprint)}…), of another key than ` +
      `that of the other hosts (${shortFingerprint(next.fingerprint)}…)`,
    name === 'ca'
      ? 'end the rotation of the CA first: `kbuild certs rotate-ca`'
      : 'find out which one is in use, and put it on this host',
  );
}

const serialNumber = (): string => `${OWN_SERIAL}${randomBytes(SERIAL_BYTES - OWN_SERIAL.length / 2).toString('hex')}`;

/** Makes the certificate on this host, and installs it there at once. */
function making(target: Target, name: KubeadmAuthority, old: AuthorityCertificate, keep: KeepControlPlane): Change {
  const { inventory, host, facts } = target;
  return {
    summary:
      `renew the authority ${name} on ${host.name} with the same key (found ` +
      `${leftText(old.expiresMs, facts.nowMs)})`,
    disrupts: true,
    restarts: placementRestarts(target, name),
    apply: async (on) => {
      await keep(on, host);
      const printed = await on(host).job('renew-authority', renewedAuthority(inventory, name, serialNumber()));
      await place(target, { name, bundle: [checked(host.name, printed, old)] }, on);
    },
  };
}

/**
 * Renews an authority with its old key, so that all certificates that it has signed stay valid. The first host that has
 * the key makes the new certificate, the others copy it.
 */
export const authorityRenewed = (name: KubeadmAuthority, renewals: Renewals, keep: KeepControlPlane): Step => ({
  name: `${name}-renewed`,
  settleMs: PLACED_SETTLE_MS,
  watches: { units: ['kubelet'] },
  needs: 'whole-control-plane',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    if (!renewals.has(name) || standing(target) !== 'joined') return [];
    const { bundle, keys } = facts.authorities.files[name];
    const [old] = bundle;
    const next = successor(inventory, fleet, name, renewals);
    const why = `have ${host.name} trust the renewed authority ${name}`;
    if (next !== undefined) {
      refuseOtherKey(target, name, next);
      return placing(target, name, { bundle: [next], why, ...(host.role === 'control-plane' ? { before: keep } : {}) });
    }
    if (host.role === 'control-plane' && old !== undefined && keys.current !== undefined)
      return [making(target, name, old, keep)];
    return [
      {
        summary: `${why} (found ${bundleText(bundle)})`,
        disrupts: true,
        restarts: placementRestarts(target, name),
      },
    ];
  },
});

/** The CAs that the cluster publishes to joining hosts and pods when its CA is renewed. */
export const renewedCas =
  (renewals: Renewals) =>
  ({ inventory, fleet }: Pick<Target<'cluster'>, 'inventory' | 'fleet'>): readonly AuthorityCertificate[] | 'later' => {
    const next = successor(inventory, fleet, 'ca', renewals);
    return next === undefined ? 'later' : [next];
  };
