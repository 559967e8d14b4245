import { X509Certificate } from 'node:crypto';
import { certificatesIn, spkiFingerprint } from '../../shell/fingerprint.ts';
import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';

/** kubeadm's authorities, by the place of their files below /etc/kubernetes/pki. */
export const AUTHORITY_FILES = { ca: 'ca', 'front-proxy-ca': 'front-proxy-ca', 'etcd-ca': 'etcd/ca' } as const;

/** An authority, as `kbuild certs` calls it. */
export type AuthorityName = keyof typeof AUTHORITY_FILES;

/** The certificate of an authority. */
export interface AuthorityCertificate {
  /** Ends with a line end. */
  readonly pem: string;
  /** `sha256:` + hex of its public key: the same in all certificates of one key. */
  readonly fingerprint: string;
  /** Hexadecimal. */
  readonly serial: string;
  /** Common name. */
  readonly subject: string;
  /** ms since the epoch. */
  readonly beginsMs: number;
  /** ms since the epoch. */
  readonly expiresMs: number;
}

/** What a rotation keeps beside an authority's file: `old` and `fresh` to tell and undo it, `signing` for the controller manager. */
export type Beside = 'old' | 'fresh' | 'signing';

/** The files of an authority on a host. */
export interface AuthorityFiles {
  /** What the host trusts, in the order of the file; empty if there is no file. kubeadm signs with the key of the first. */
  readonly bundle: readonly AuthorityCertificate[];
  /** When that file was changed, ms since the epoch by the host's clock; 0 if there is none. */
  readonly changedMs: number;
  readonly beside: Readonly<Partial<Record<Beside, AuthorityCertificate>>>;
  /** SHA-256 of the key files that are there. */
  readonly keys: Readonly<Partial<Record<Beside | 'current', string>>>;
}

/** kubeadm's authorities on a host. */
export interface Authorities {
  readonly files: Readonly<Record<AuthorityName, AuthorityFiles>>;
  /** The certificates that each kubeconfig of the host trusts; empty if it names a file instead. */
  readonly kubeconfigs: ReadonlyMap<string, readonly AuthorityCertificate[]>;
  /** The file with which the controller manager is told to sign; `by default` if its manifest does not say, or there is none. */
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
    beginsMs: Date.parse(found.validFrom),
    expiresMs: Date.parse(found.validTo),
  };
}

const SUFFIXES: Readonly<Record<Beside, string>> = { old: '-old', fresh: '-new', signing: '-signing' };

/** What of an authority's files the output shows. */
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
    beside: some(beside.map(({ what, name }) => [what, certificates.get(name)?.all[0]])),
    keys: some([['current', keys.get(file)], ...beside.map(({ what, name }) => [what, keys.get(name)] as const)]),
  };
}

/** The authorities of a host, from the output of its probe. Throws on bad PEM. */
export function parseAuthorities(out: string): Authorities {
  const blocks = out.split(/^(?=(?:file|conf|key|signing) )/m).map((block) => ({
    words: block.slice(0, block.indexOf('\n')).trim().split(' '),
    all: () => certificatesIn(block).map(authorityCertificate),
  }));
  const of = (kind: string) => blocks.filter(({ words }) => words[0] === kind);
  const certificates = new Map(
    of('file').map(({ words, all }) => [words[1]!, { changedMs: Math.round(Number(words[2]) * 1000), all: all() }]),
  );
  const keys = new Map(of('key').map(({ words }) => [words[1]!, words[2]!]));
  return {
    files: {
      ca: filesOf(AUTHORITY_FILES.ca, certificates, keys),
      'front-proxy-ca': filesOf(AUTHORITY_FILES['front-proxy-ca'], certificates, keys),
      'etcd-ca': filesOf(AUTHORITY_FILES['etcd-ca'], certificates, keys),
    },
    kubeconfigs: new Map(of('conf').map(({ words, all }) => [words[1]!, all()])),
    signing:
      lines(out)
        .find((line) => line.startsWith('signing '))
        ?.slice('signing '.length) ?? 'by default',
  };
}

/** kubeadm's authorities on the host: public parts, and hashes of keys. */
export const authorities = probe(script('linux/probe-authorities.sh'), parseAuthorities);
