import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { objectOf, objectsOf, textIn, within } from '../shell/decode.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import type { EncryptionKey } from './manifest.ts';

/** True for the text of an EncryptionConfiguration, which holds keys. */
export const isEncryptionConfiguration = (text: string): boolean =>
  /^[ \t]*["']?kind["']?\s*:\s*["']?EncryptionConfiguration\b/m.test(text) ||
  /"kind"\s*:\s*"EncryptionConfiguration"/.test(text);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The keys of an EncryptionConfiguration (kubernetes.io, "Encrypting Confidential Data at Rest"), each key once, as a
 * hash. Throws if the text is not an EncryptionConfiguration.
 */
export function encryptionKeys(configuration: Secret): readonly EncryptionKey[] {
  const { resources } = objectOf(parse(revealed(configuration)));
  if (!Array.isArray(resources)) throw new Error('is no EncryptionConfiguration');
  const keys = objectsOf(resources)
    .flatMap(({ providers }) =>
      objectsOf(providers).flatMap((provider) => Object.keys(provider).map((name) => ({ name, provider }))),
    )
    .flatMap(({ name: provider, provider: all }): readonly EncryptionKey[] => {
      const settings = within(all, provider);
      if (provider === 'kms') return [{ provider, name: textIn(settings['name'], '') }];
      return objectsOf(settings['keys']).map(({ name, secret }) => ({
        ...{ provider, name: textIn(name, '') },
        sha256: sha256(textIn(secret, '')),
      }));
    });
  return [...new Map(keys.map((key) => [`${key.provider} ${key.name} ${key.sha256 ?? ''}`, key])).values()];
}

/**
 * The wanted keys that are not in `found`. Without them the API servers cannot read the objects that these keys
 * encrypted.
 */
export const missingKeys = (
  wanted: readonly EncryptionKey[],
  found: readonly EncryptionKey[],
): readonly EncryptionKey[] =>
  wanted.filter(({ sha256: hash }) => hash !== undefined && !found.some((key) => key.sha256 === hash));
