import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { Secret } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { type AuthorityCertificate, keyId } from './authorities.facts.ts';
import { pemOf } from './authority-files.ts';

/** The key of service accounts with which a control plane signs from now on. */
export interface KeySigner {
  readonly signer: 'old' | 'fresh';
  readonly signs: AuthorityCertificate;
  /** The key with which it signed until now. */
  readonly signed: AuthorityCertificate;
}

/**
 * The job that lets a control plane accept tokens of these keys, and optionally sign with another one. Its files come
 * from `keyFiles`.
 */
export const placeServiceAccountKey = (
  inventory: Inventory,
  host: LinuxHost,
  bundle: readonly AuthorityCertificate[],
  signing?: KeySigner,
): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('certificates/place-service-account-key.sh', {
      SIGNER: signing === undefined ? '' : signing.signer === 'fresh' ? 'new' : 'old',
      KUBECTL: kubectl(inventory, host),
      TRUSTED: bundle.map(keyId),
      SIGNS: signing === undefined ? '' : keyId(signing.signs),
    }),
  );

/** The files of that job. */
export const keyFiles = (
  bundle: readonly AuthorityCertificate[],
  signing?: KeySigner,
): Readonly<Record<string, Secret>> => ({
  'sa.pub': Secret.of(pemOf(bundle)),
  ...(signing === undefined
    ? {}
    : { 'signs.pub': Secret.of(signing.signs.pem), 'signed.pub': Secret.of(signing.signed.pem) }),
});
