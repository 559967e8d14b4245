// CommonJS: Node finds no named exports in it.
import ssh2 from 'ssh2';
import { createPrivateKey } from 'node:crypto';
import { revealed, Secret } from '../shell/secret.ts';

/**
 * The 32 bytes of an Ed25519 private key of OpenSSH, in hexadecimal. Throws an error that says why there are none.
 */
export function ed25519Seed(text: Secret, passphrase?: Secret): Secret {
  const parsed = ssh2.utils.parseKey(revealed(text), passphrase === undefined ? undefined : revealed(passphrase)) as
    ssh2.ParsedKey | Error | readonly ssh2.ParsedKey[];
  if (parsed instanceof Error) throw parsed;
  const [key] = [parsed].flat();
  if (key?.type !== 'ssh-ed25519') throw new Error(`is of the type ${key?.type ?? 'unknown'}; ssh-ed25519 is needed`);
  const { d } = createPrivateKey(key.getPrivatePEM()).export({ format: 'jwk' });
  return Secret.of(Buffer.from(d ?? '', 'base64url').toString('hex'));
}
