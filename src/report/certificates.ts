import type { Certificate } from '../certificates/certificates.facts.ts';
import { type Renewer, renewerOf } from '../certificates/expiry.ts';
import { daysLeft } from '../certificates/validity.value.ts';
import { type Fleet, observedLinux, observedWindows } from '../cluster/fleet/fleet.ts';
import { FactError } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { table } from './text.ts';

/** A certificate on a host. */
interface CertificateRow extends Certificate {
  readonly host: string;
  /** Whole days until it expires, by the host's clock; negative if it has expired. */
  readonly days: number;
  readonly renewedBy: Renewer;
}

/** `kbuild certs`. */
interface CertificatesView {
  readonly cluster: string;
  /** Soonest end first. */
  readonly certificates: readonly CertificateRow[];
  /** Hosts whose certificates are not known, and why. */
  readonly unknown: readonly { readonly host: string; readonly message: string }[];
}

/** The certificates of a fleet, and the hosts whose certificates are not known. */
export function certificatesView(
  inventory: Inventory,
  fleet: Fleet,
  isShown: (host: string) => boolean,
): CertificatesView {
  const certificates: CertificateRow[] = [];
  const unknown: { readonly host: string; readonly message: string }[] = fleet.unreachable.map(({ host, error }) => ({
    host: host.name,
    message: error.message,
  }));
  for (const { host, facts } of observedLinux(fleet))
    try {
      const { nowMs } = facts;
      certificates.push(
        ...facts.certificates.map((one) => ({
          ...one,
          host: host.name,
          days: daysLeft(Date.parse(one.expires), nowMs),
          renewedBy: renewerOf(inventory, one.name),
        })),
      );
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknown.push({ host: host.name, message: error.message });
    }
  for (const { host } of observedWindows(fleet))
    unknown.push({ host: host.name, message: `${host.name}: kbuild does not read certificates on Windows` });
  return {
    cluster: inventory.name,
    certificates: certificates
      .filter(({ host }) => isShown(host))
      .toSorted((a, b) => a.expires.localeCompare(b.expires) || a.host.localeCompare(b.host)),
    unknown: unknown.filter(({ host }) => isShown(host)),
  };
}

/** True when a certificate has expired that another program verifies. */
export const hasExpired = ({ certificates }: CertificatesView): boolean =>
  certificates.some(({ days, renewedBy }) => days < 0 && renewedBy !== 'nobody');

/** The view as text. */
export const certificatesText = ({ certificates, unknown }: CertificatesView): string =>
  [
    table([
      ['HOST', 'NAME', 'EXPIRES', 'DAYS', 'ISSUER', 'RENEWED BY', 'NAMES'],
      ...certificates.map(({ host, name, expires, days, issuer, renewedBy, names }) => [
        host,
        name,
        expires.slice(0, 10),
        days < 0 ? 'EXPIRED' : String(days),
        issuer,
        renewedBy,
        names.join(', '),
      ]),
    ]),
    ...unknown.map(({ message }) => `unknown: ${message}`),
    '',
  ].join('\n');

const label = (value: string): string =>
  `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const sample = (name: string, labels: Readonly<Record<string, string>>, value: number): string =>
  `${name}{${Object.entries(labels)
    .map(([key, text]) => `${key}=${label(text)}`)
    .join(',')}} ${String(value)}`;

const metric = (name: string, help: string, samples: readonly string[]): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} gauge`,
  ...samples,
];

const EXPIRY = 'kbuild_certificate_expiration_timestamp_seconds';
const READ = 'kbuild_certificates_read';
const READ_AT = 'kbuild_certificates_read_timestamp_seconds';

/** The view in Prometheus' text format, for node_exporter's textfile collector. `nowMs`: the operator's clock. */
export function certificatesMetrics({ cluster, certificates, unknown }: CertificatesView, nowMs: number): string {
  const read = new Set(certificates.map(({ host }) => host));
  return [
    ...metric(
      EXPIRY,
      'End of a certificate, in seconds since the epoch.',
      certificates.map(({ host, name, issuer, serial, renewedBy, expires }) =>
        sample(EXPIRY, { cluster, host, name, issuer, serial, renewed_by: renewedBy }, Date.parse(expires) / 1000),
      ),
    ),
    ...metric(READ, '1 where the certificates of a host were read, 0 where they are not known.', [
      ...[...read].map((host) => sample(READ, { cluster, host }, 1)),
      ...unknown.filter(({ host }) => !read.has(host)).map(({ host }) => sample(READ, { cluster, host }, 0)),
    ]),
    ...metric(READ_AT, 'When kbuild read them, in seconds since the epoch.', [
      sample(READ_AT, { cluster }, Math.floor(nowMs / 1000)),
    ]),
    '',
  ].join('\n');
}
