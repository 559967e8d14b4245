import * as z from 'zod';
import { addressProblem, cidrProblem, endpointParts, isIP, listProblem } from '../addresses.ts';

/** A manifest as an inventory names it: a file or URL, or one with the hash of its bytes. */
export type ManifestEntry = string | { readonly source: string; readonly sha256: string };

/** The file or URL. */
export const sourceOf = (entry: ManifestEntry): string => (typeof entry === 'string' ? entry : entry.source);

/** The SHA-256 that its bytes must have, in lower-case hexadecimal digits; undefined where none is given. */
export const checksumOf = (entry: ManifestEntry): string | undefined =>
  typeof entry === 'string' ? undefined : entry.sha256;

/** A schema that is made at its first use, and once: it is immutable, and making it is dear. */
const once = <S>(make: () => S): (() => S) => {
  let made: S | undefined;
  return () => (made ??= make());
};

// Every string that reaches a host as a name is held by a list of what is allowed; free text stays in `config` values.

/**
 * Text of a form; `must` ends the sentence "must be …". What stands in it behind `e.g.` is the example of editors and
 * of `kbuild explain`.
 */
export const text = (pattern: RegExp, must: string) => {
  const [, example] = /e\.g\. "([^"]+)"/.exec(must) ?? [];
  const made = z.string().regex(pattern, `must be ${must}`);
  return example === undefined ? made : made.meta({ examples: [example] });
};

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DNS_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);
const URL = /^https?:\/\/[A-Za-z0-9.[\]:_-]+(?:\/[A-Za-z0-9._~:/?#%+,=&{}-]*)?$/;

/** True for a DNS name that no program can take for an address. */
const isDnsName = (value: string): boolean => DNS_NAME.test(value) && !/(?:^|\.)\d+$|^(?:\d+\.){3}\d+-\d+$/.test(value);

/** RFC 1123 label, ≤ 63 characters. */
export const label = once(() =>
  text(new RegExp(`^${LABEL}$`), 'a name of at most 63 lower-case letters, digits and hyphens (RFC 1123), e.g. "prod"'),
);

/** A Kubernetes node name, short enough to be a hostname and a label's value. */
export const hostName = once(() =>
  text(
    new RegExp(`^(?=.{1,63}$)${LABEL}(?:\\.${LABEL})*$`),
    'a name of at most 63 lower-case letters, digits, hyphens and dots (RFC 1123), e.g. "worker-1"',
  ),
);

/** A DNS name. */
export const dnsName = once(() => text(DNS_NAME, 'a lower-case DNS name, e.g. "cluster.local"'));

/** What an address of another tool, or of a shell, has beside the address. */
function addressHint(text: string): string {
  if (/\[\d+:\d+\]|\{\d+\.\.\d+\}|\d-\d+$/.test(text)) return '; a range is several hosts: write each of them';
  if (/^[^@]+@/.test(text)) return '; the user belongs to ssh: { user: NAME }';
  if (/^[^:]+:\d+$/.test(text)) return '; the port belongs to ssh: { port: NUMBER }';
  if (/^[a-z]+:\/\//.test(text)) return ', without https:// before it';
  if (/^(?:\d+\.){3}\d+$/.test(text)) return '; each number of an IPv4 address is at most 255';
  if (isDnsName(text.toLowerCase())) return `: write ${text.toLowerCase()}`;
  return '';
}

/** IPv4, IPv6 or a DNS name. */
export const address = once(() =>
  z
    .string()
    .max(253)
    .refine((value) => isIP(value) !== 0 || isDnsName(value), {
      error: ({ input }) => `must be an IP address or a lower-case DNS name${addressHint(String(input))}`,
    })
    .meta({ examples: ['203.0.113.11'] }),
);

/** Text for which `problemOf` has no problem. */
const judged = (problemOf: (value: string) => string | undefined, examples: readonly string[]) =>
  z
    .string()
    .superRefine((value, context) => {
      const message = problemOf(value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ examples: [...examples] });

/** An IP address. */
export const ipAddress = once(() => judged(addressProblem, ['10.0.0.11']));

/** An IP address, or one of each family with a comma between them. */
export const ipAddresses = once(() =>
  judged((value) => listProblem(value, addressProblem), ['10.0.0.11', '10.0.0.11,fd00::11']),
);

/** A network in CIDR notation without host bits. */
export const cidr = once(() => judged(cidrProblem, ['10.244.0.0/16']));

/** A network, or one of each family with a comma between them. */
export const cidrs = once(() => judged((value) => listProblem(value, cidrProblem), ['10.244.0.0/16']));

/** `host` or `host:port`, the host an IP address (IPv6 in brackets) or a DNS name. */
export const endpoint = once(() =>
  z
    .string()
    .refine((value) => {
      const { host = '', port = 1 } = endpointParts(value) ?? {};
      return (isIP(host) !== 0 || isDnsName(host)) && port > 0 && port < 65_536;
    }, 'must be host:port without "https://", e.g. "k8s.example.com:6443"; IPv6 in brackets: "[fd00::100]:6443"')
    .meta({ examples: ['k8s.example.com:6443'] }),
);

/** An HTTP or HTTPS URL without credentials. */
export const url = once(() =>
  text(URL, 'a URL that begins with http:// or https:// and holds no password and no blanks').meta({
    examples: ['https://mirror.example.com/k8s'],
  }),
);

/** A URL, or a file on this machine. */
export const urlOrFile = once(() =>
  localPath()
    .refine((value) => !/^[a-z]+:\/\//i.test(value) || URL.test(value), 'must be a file or an http(s) URL')
    .meta({ examples: ['https://mirror.example.com/k8s.key'] }),
);

/** A path on a host: absolute, normal, without control characters. */
export const absolutePath = once(() =>
  z
    .string()
    .max(4096)
    .refine(
      (value) => /^(?:\/[^/\p{Cc}]+)+$/u.test(value) && !value.split('/').some((part) => part === '.' || part === '..'),
      'must be an absolute path without "..", "//", a slash at its end or control characters',
    )
    .meta({ examples: ['/etc/motd'] }),
);

/** A path on this machine; relative ones start at the inventory's folder, `~` is the home folder. */
export const localPath = once(() =>
  text(/^[^\p{Cc}]+$/u, 'a file name without control characters')
    .max(4096)
    .meta({ examples: ['files/example'] }),
);

/** A SHA-256 hash in hexadecimal digits. */
export const sha256 = once(() =>
  text(/^[0-9a-f]{64}$/, '64 lower-case hexadecimal digits').meta({ examples: ['0123456789abcdef'.repeat(4)] }),
);

/** A manifest: a file or URL, or one with the hash that its bytes must have. */
export const manifestEntry = once(() =>
  z.union([
    localPath(),
    z.strictObject({
      source: localPath().meta({ description: 'YAML file, or https:// URL.' }),
      sha256: sha256().meta({ description: 'SHA-256 of its bytes; other bytes are refused.' }),
    }),
  ]),
);

/** An exact version `1.36.3`. */
export const version = once(() =>
  text(/^\d{1,3}\.\d{1,3}\.\d{1,3}$/, 'an exact version of three numbers without "v", e.g. "1.36.3"'),
);

/** An image with tag or digest. */
export const image = once(() =>
  text(
    /^[a-z0-9][a-z0-9._-]*(?::\d+)?(?:\/[a-z0-9._-]+)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/,
    'an image name, e.g. "ghcr.io/flannel-io/flannel:v0.28.10"',
  ),
);

/** An image repository: registry and path without tag. */
export const imageRepository = once(() =>
  text(
    /^[a-z0-9][a-z0-9._-]*(?::\d+)?(?:\/[a-z0-9._-]+)*$/,
    'a registry, with a path if it has one, without tag, e.g. "registry.example.com/k8s"',
  ),
);

/** A port number. */
export const port = once(() => z.number().int().min(1).max(65_535));

/** `sha256:` + 64 hexadecimal digits. */
export const publicKeyHash = once(() =>
  text(/^sha256:[0-9a-f]{64}$/, '"sha256:" and 64 lower-case hexadecimal digits').meta({
    examples: [`sha256:${'0123456789abcdef'.repeat(4)}`],
  }),
);

/** A secret's reference. What stands there instead is never shown. */
export const secretReference = once(() =>
  z
    .string('must be a reference: env:NAME, file:PATH or command:COMMAND')
    .regex(
      /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[^\p{Cc}]+|command:[^\0\r\n]+)$/u,
      'must be a reference, no secret itself: env:NAME, file:PATH or command:COMMAND',
    )
    .meta({ examples: ['env:SECRET', 'file:secrets/example', 'command:pass show example'] }),
);

/** A public host key as in a .pub file, or its fingerprint. */
export const hostKey = once(() =>
  text(
    /^(?:SHA256:[A-Za-z0-9+/]{43}|(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,}={0,2}(?: [^\p{Cc}]*)?)$/u,
    'a public key, "ssh-ed25519 AAAA…", or its fingerprint, "SHA256:…" (ssh-keygen -lf)',
  ).meta({ examples: [`SHA256:${'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/'.padEnd(43, 'A')}`] }),
);

/** One line of free text. */
export const line = once(() =>
  text(/^[^\p{Cc}]*$/u, 'one line without control characters').meta({ examples: ['text'] }),
);

/** Free settings of another program: any JSON. */
export const freeObject = once(() => z.record(z.string(), z.unknown()));
