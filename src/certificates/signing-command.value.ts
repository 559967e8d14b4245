import { X509Certificate } from 'node:crypto';
import { Refused } from '../errors.ts';
import type { Authority, SigningRequest } from '../inventory/control-plane.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type KubeadmAuthority, ownAuthority, settingOf } from './authorities.value.ts';
import { certified, type Certified, pemBytes, requested } from './certificate.value.ts';
import { daysLeft, RENEWED_AT_DAYS } from './validity.value.ts';

/** An authority that signs by a command: neither kbuild nor a host has its key. */
export type SigningAuthority = Extract<Authority, { readonly sign: unknown }> & {
  /** The setting that names it, e.g. `certificates.ca`. */
  readonly setting: string;
};

/** The authority that signs by a command, by default the cluster's; undefined if kubeadm signs. */
export function signingAuthority(
  inventory: Pick<Inventory, 'certificates'>,
  name: KubeadmAuthority = 'ca',
): SigningAuthority | undefined {
  const own = ownAuthority(inventory, name);
  return own !== undefined && 'sign' in own ? { ...own, setting: settingOf(name) } : undefined;
}

/** Allowed difference of hosts' clocks (check `clock-skew`), in ms: a certificate may begin that far in the future. */
const SKEW_MS = 30_000;

/** Extended key usages: id-kp-serverAuth, id-kp-clientAuth. */
const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

const USAGES_OF: Readonly<Record<SigningRequest['profile'], readonly (keyof typeof USAGES)[]>> = {
  server: ['server'],
  client: ['client'],
  peer: ['server', 'client'],
};

const same = (one: readonly string[], other: readonly string[]): boolean => one.join('\n') === other.join('\n');
const shown = (list: readonly string[]): string => (list.length === 0 ? 'none' : list.join(', '));

/** The flaw of a signing command's output, as text that follows "it"; undefined if there is none. */
function signatureFlaw(
  printed: string,
  {
    asked,
    profile,
    authority,
    nowMs,
  }: {
    readonly asked: Certified;
    readonly profile: SigningRequest['profile'];
    readonly authority: SigningAuthority;
    readonly nowMs: number;
  },
): string | undefined {
  const bytes = pemBytes(printed, 'CERTIFICATE');
  if (bytes === undefined) return 'printed no PEM certificate';
  let got: Certified;
  let found: X509Certificate;
  try {
    found = new X509Certificate(bytes);
    got = certified(bytes);
  } catch {
    return 'printed a certificate that cannot be read';
  }
  const ca = new X509Certificate(authority.cert);
  if (got.publicKey !== asked.publicKey) return 'certified another public key than the one in the request';
  if (!found.checkIssued(ca) || !found.verify(ca.publicKey))
    return `did not sign with ${authority.setting}.cert (issuer: ${found.issuer.replaceAll('\n', ', ')})`;
  if (!same(got.subject, asked.subject))
    return `certified the subject ${shown(got.subject)} instead of ${shown(asked.subject)}`;
  if (!same(got.names, asked.names)) return `certified the names ${shown(got.names)} instead of ${shown(asked.names)}`;
  // By @types/node keyUsage always exists, but a certificate may have none.
  const usages = (found.keyUsage as readonly string[] | undefined) ?? [];
  const left = USAGES_OF[profile].find((usage) => !usages.includes(USAGES[usage]));
  if (left !== undefined) return `left out the extended key usage ${left}Auth`;
  if (found.ca) return 'made a certificate of an authority of it (basicConstraints CA:TRUE)';
  if (Date.parse(found.validFrom) > nowMs + SKEW_MS) return `made it valid from ${found.validFrom} only`;
  return daysLeft(Date.parse(found.validTo), nowMs) > RENEWED_AT_DAYS
    ? undefined
    : `made it valid until ${found.validTo} only; it must hold for more than ${String(RENEWED_AT_DAYS)} days`;
}

/** The first certificate of the output, as PEM. */
const pemOf = (printed: string): string => new X509Certificate(pemBytes(printed, 'CERTIFICATE')!).toString();

/**
 * Has the inventory's command sign a request, verifies every field of the certificate, and returns it (PEM).
 * `subjects`: the allowed subjects. @throws Refused with the host, the certificate and its flaw.
 */
export async function signedCertificate(
  authority: SigningAuthority,
  request: SigningRequest,
  subjects: readonly (readonly string[])[],
  nowMs: () => number = Date.now,
): Promise<string> {
  const what = `the certificate ${request.certificate} of ${request.host}`;
  const signer = `${authority.setting}.sign`;
  const remedy = `mend ${signer} and run the same command again; kbuild has not put this certificate on a host`;
  let asked: Certified;
  try {
    asked = requested(request.request);
  } catch (error) {
    throw new Refused(
      'signing-request',
      request.host,
      `its request for ${request.certificate} cannot be read: ${(error as Error).message}`,
    );
  }
  const allowed = subjects.map((subject) => [...subject].sort());
  if (!allowed.some((subject) => same(asked.subject, subject)))
    throw new Refused(
      'signing-request',
      request.host,
      `it asks for the subject ${shown(asked.subject)} in ${request.certificate}, and may have ` +
        `${allowed.map(shown).join(' or ')} there`,
    );
  if (request.profile === 'client' && asked.names.length > 0)
    throw new Refused(
      'signing-request',
      request.host,
      `it asks for the names ${shown(asked.names)} in ${request.certificate}, which has none`,
    );
  let printed: string;
  try {
    printed = await authority.sign(request);
  } catch (error) {
    throw new Refused(
      'signing-failed',
      request.host,
      `${what} was not signed: ${signer}: ${(error as Error).message}`,
      remedy,
    );
  }
  const flaw = signatureFlaw(printed, { asked, profile: request.profile, authority, nowMs: nowMs() });
  if (flaw !== undefined) throw new Refused('signing-failed', request.host, `${what}: ${signer} ${flaw}`, remedy);
  return pemOf(printed);
}
