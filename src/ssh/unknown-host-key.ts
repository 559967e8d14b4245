import { ConnectError } from '../errors.ts';
import { fingerprint, keyTypeOf } from './known-hosts.ts';
import { type Endpoint, whereOf } from './target.ts';

/** How ssh(1) names the type of a key, e.g. `ED25519`. */
const shortType = (key: Buffer): string =>
  keyTypeOf(key)
    .replace(/^ssh-/, '')
    .replace(/^ecdsa-sha2-nistp\d+$/, 'ecdsa')
    .toUpperCase();

/** `ED25519 key fingerprint is SHA256:…`, as ssh(1) shows a key. */
export const keyText = (key: Buffer): string => `${shortType(key)} key fingerprint is ${fingerprint(key)}`;

/** A host showed a key that no file knows. Nothing was sent to it. Exit 3. */
export class UnknownHostKey extends ConnectError {
  /** `address:port` of the machine that showed it: the host, or a bastion on the way. */
  readonly where: string;
  readonly key: Buffer;
  /** As OpenSSH prints it. */
  readonly fingerprint: string;
  /** The file that would know it; undefined if there is none to write to. */
  readonly file: string | undefined;
  /** The name under which that file would know it. */
  readonly known: { readonly address: string; readonly port: number };

  /** `note` stands behind the message. */
  constructor(
    endpoint: Endpoint,
    { key, known, note = '' }: Pick<UnknownHostKey, 'key' | 'known'> & { readonly note?: string },
    remedy: string,
  ) {
    super(endpoint.name, `${whereOf(endpoint)}: the host key is not known: ${keyText(key)}${note}`, {
      retryable: false,
      remedy,
    });
    this.where = whereOf(endpoint);
    this.key = key;
    this.fingerprint = fingerprint(key);
    this.file = endpoint.ssh.knownHostsFiles[0];
    this.known = known;
  }
}
