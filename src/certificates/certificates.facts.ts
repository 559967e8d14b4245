import { createPublicKey, X509Certificate } from 'node:crypto';
import { canonical } from '../inventory/addresses.ts';
import { lines, numberOf, probeInPlace, timeOf } from '../shell/probe.ts';
import { script } from '../templates.ts';
import type { KubeadmAuthority } from './authorities.value.ts';
import { certificatesIn, keyFingerprint, publicKeysIn, spkiFingerprint } from './fingerprint.value.ts';

/** kubeadm's authorities, by the place of their files below /etc/kubernetes/pki. */
export const AUTHORITY_FILES = {
  ca: 'ca',
  'front-proxy-ca': 'front-proxy-ca',
  'etcd-ca': 'etcd/ca',
} as const satisfies Readonly<Record<KubeadmAuthority, string>>;

/**
 * Everything that `kbuild certs rotate-ca` can rotate, by the place of its files: the authorities, and the key that
 * signs service account tokens.
 */
export const ROTATED_FILES = { ...AUTHORITY_FILES, sa: 'sa' } as const;

/** The name of an authority, or `sa`, which has a public key instead of a certificate. */
export type RotatedName = keyof typeof ROTATED_FILES;

/** Suffix of the file that hosts trust: a certificate, or the public key of `sa`. */
export const trustedEnd = (name: RotatedName): 'crt' | 'pub' => (name === 'sa' ? 'pub' : 'crt');

/** The certificate of an authority, or the public key of service account tokens. */
export interface AuthorityCertificate {
  /** Ends with a line end. */
  readonly pem: string;
  /** `sha256:` + hex of its public key: the same in all certificates of one key. */
  readonly fingerprint: string;
  /** Hexadecimal; empty for a public key. */
  readonly serial: string;
  /** Common name; of a public key the name that kbuild gave it, or the beginning of its fingerprint. */
  readonly subject: string;
  /** ms since the epoch; of a public key by its name, 0 if that does not say. */
  readonly beginsMs: number;
  /** ms since the epoch; `Infinity` for a public key. */
  readonly expiresMs: number;
}

/**
 * The files that a rotation keeps beside an authority's file: `old` and `fresh` to recognize and undo the rotation,
 * `signing` for the controller manager. For the key of service accounts `signing` is the key that was last proved to
 * sign.
 */
export type Beside = 'old' | 'fresh' | 'signing';

/** The files of an authority on a host. */
export interface AuthorityFiles {
  /**
   * The certificates that the host trusts, in the order of the file; empty if there is no file. kubeadm signs with the
   * key of the first.
   */
  readonly bundle: readonly AuthorityCertificate[];
  /** Time of that file's last change, ms since the epoch by the host's clock; 0 if there is none. */
  readonly changedMs: number;
  readonly beside: Readonly<Partial<Record<Beside, AuthorityCertificate>>>;
  /** Time of the last change of the file `signing`, ms since the epoch by the host's clock; 0 if there is none. */
  readonly signingMs: number;
  /** SHA-256 of the key files that are there. */
  readonly keys: Readonly<Partial<Record<Beside | 'current', string>>>;
}

/** kubeadm's authorities on a host. */
export interface Authorities {
  readonly files: Readonly<Record<RotatedName, AuthorityFiles>>;
  /** The certificates that each kubeconfig of the host trusts; empty if it names a file instead. */
  readonly kubeconfigs: ReadonlyMap<string, readonly AuthorityCertificate[]>;
  /**
   * The file with which the controller manager is told to sign, the last one if there are several; `by default` if its
   * manifest does not say, or there is none.
   */
  readonly signing: string;
}

/** The certificate of an authority. Throws on bad PEM. */
export function authorityCertificate(pem: string): AuthorityCertificate {
  const found = new X509Certificate(pem);
  return {
    pem,
    fingerprint: spkiFingerprint(pem),
    serial: found.serialNumber,
    subject: /^CN=(.*)$/m.exec(found.subject)?.[1] ?? found.subject.replaceAll('\n', ', '),
    beginsMs: timeOf(found.validFrom),
    expiresMs: timeOf(found.validTo),
  };
}

/** A public key, with the line before it that names it. Throws on bad PEM. */
export function trustedKey(text: string): AuthorityCertificate {
  const fingerprint = keyFingerprint(createPublicKey(text));
  const name = /^# (\S+)$/m.exec(text)?.[1];
  const [, day, hour] = /-(\d{8})t(\d{6})z$/.exec(name ?? '') ?? [];
  const made = `${day ?? ''}T${hour ?? ''}`.replace(/^(....)(..)(..T..)(..)(..)$/, '$1-$2-$3:$4:$5Z');
  return {
    pem: text,
    fingerprint,
    serial: '',
    subject: name ?? `key-${fingerprint.slice('sha256:'.length, 'sha256:'.length + 12)}`,
    beginsMs: Date.parse(made) || 0,
    expiresMs: Infinity,
  };
}

/**
 * The id by which the API server names a key, in its tokens and in its list of accepted keys (`keyIDFromPublicKey` in
 * kubernetes/pkg/serviceaccount/jwt.go).
 */
export const keyId = ({ fingerprint }: Pick<AuthorityCertificate, 'fingerprint'>): string =>
  Buffer.from(fingerprint.slice('sha256:'.length), 'hex').toString('base64url');

/** The public keys of a text. Skips a key that it cannot parse, as the API server does. */
const keysIn = (text: string): readonly AuthorityCertificate[] =>
  publicKeysIn(text).flatMap((one) => {
    try {
      return [trustedKey(one)];
    } catch {
      return [];
    }
  });

/** Suffixes of the names of these files, before the dot. */
export const SUFFIXES: Readonly<Record<Beside, string>> = { old: '-old', fresh: '-new', signing: '-signing' };

/** The files of an authority, from the output of the probe. */
function filesOf(
  file: string,
  certificates: ReadonlyMap<string, { readonly changedMs: number; readonly all: readonly AuthorityCertificate[] }>,
  keys: ReadonlyMap<string, string>,
): AuthorityFiles {
  const bundle = certificates.get(file);
  const beside = (Object.keys(SUFFIXES) as readonly Beside[]).map((what) => ({
    what,
    name: `${file}${SUFFIXES[what]}`,
  }));
  const some = <V>(found: readonly (readonly [string, V | undefined])[]) =>
    Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Readonly<Record<string, V>>;
  return {
    bundle: bundle?.all ?? [],
    changedMs: bundle?.changedMs ?? 0,
    signingMs: certificates.get(`${file}${SUFFIXES.signing}`)?.changedMs ?? 0,
    beside: some(beside.map(({ what, name }) => [what, certificates.get(name)?.all[0]])),
    keys: some([['current', keys.get(file)], ...beside.map(({ what, name }) => [what, keys.get(name)] as const)]),
  };
}

/** The text of base64; each line stands for itself. */
const decoded = (base64: string): string =>
  lines(base64)
    .map((line) => Buffer.from(line, 'base64').toString('latin1'))
    .join('\n');

/** The authorities of a host, from the output of its probe. Throws on bad PEM. */
export function parseAuthorities(out: string): Authorities {
  const blocks = out.split(/^(?=(?:file|conf|key|signing) )/m).map((block) => ({
    words: block.slice(0, block.indexOf('\n')).trim().split(' '),
    all: () => {
      const text = block.startsWith('conf ') ? decoded(block.slice(block.indexOf('\n') + 1)) : block;
      return [...certificatesIn(text).map(authorityCertificate), ...keysIn(text)];
    },
  }));
  const of = (kind: string) => blocks.filter(({ words }) => words[0] === kind);
  const certificates = new Map(
    of('file').map(({ words, all }) => [
      words[1]!,
      { changedMs: Math.round(numberOf(words[2], 'time') * 1000), all: all() },
    ]),
  );
  const keys = new Map(of('key').map(({ words }) => [words[1]!, words[2]!]));
  return {
    files: {
      ca: filesOf(AUTHORITY_FILES.ca, certificates, keys),
      'front-proxy-ca': filesOf(AUTHORITY_FILES['front-proxy-ca'], certificates, keys),
      'etcd-ca': filesOf(AUTHORITY_FILES['etcd-ca'], certificates, keys),
      sa: filesOf(ROTATED_FILES.sa, certificates, keys),
    },
    kubeconfigs: new Map(of('conf').map(({ words, all }) => [words[1]!, all()])),
    signing:
      lines(out)
        .findLast((line) => line.startsWith('signing '))
        ?.slice('signing '.length) ?? 'by default',
  };
}

/** kubeadm's authorities on the host: public parts, and hashes of keys. */
export const authorities = probeInPlace(script('certificates/probe-authorities.sh'), parseAuthorities);

/** A certificate on a host. kbuild reads only its public part. */
export interface Certificate {
  /**
   * Its name in kubeadm (`apiserver`, `etcd-server`, `admin.conf`); authorities `ca`, `etcd-ca`, `front-proxy-ca`; of
   * the kubelet `kubelet-client`, `kubelet-server` (signed by the cluster) and `kubelet` (which it made for itself).
   */
  readonly name: string;
  /** ISO 8601. */
  readonly begins: string;
  /** ISO 8601. */
  readonly expires: string;
  /** Hexadecimal. It differs from the serial number of the certificate before a renewal. */
  readonly serial: string;
  /** Common name, or the whole subject if it has no common name. */
  readonly subject: string;
  /** Common name of its authority. */
  readonly issuer: string;
  /** DNS names and addresses for which it is valid. */
  readonly names: readonly string[];
}

const commonName = (lines: string): string => /^CN=(.*)$/m.exec(lines)?.[1] ?? lines.replaceAll('\n', ', ');

/** DNS names and addresses of a certificate. */
const namesOf = ({ subjectAltName }: X509Certificate): readonly string[] =>
  (subjectAltName ?? '')
    .split(', ')
    .flatMap((one) => /^(?:DNS|IP Address):(.+)$/.exec(one)?.[1] ?? [])
    .map(canonical);

function certificateOf(block: string): Certificate {
  const text = block.slice(block.indexOf('\n') + 1);
  // A kubeconfig has it in base64.
  const found = new X509Certificate(text.includes('-BEGIN ') ? text : Buffer.from(text, 'base64'));
  return {
    name: block.slice(0, block.indexOf('\n')),
    begins: new Date(found.validFrom).toISOString(),
    expires: new Date(found.validTo).toISOString(),
    serial: found.serialNumber,
    subject: commonName(found.subject),
    issuer: commonName(found.issuer),
    names: namesOf(found),
  };
}

/** Certificates that kubeadm and the kubelet keep on the host. */
export const certificates = probeInPlace(script('certificates/probe-certificates.sh'), (out): readonly Certificate[] =>
  out
    .split(/^certificate /m)
    .slice(1)
    .map(certificateOf),
);
