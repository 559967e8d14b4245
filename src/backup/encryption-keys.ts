import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { revealed, type Secret } from '../shell/secret.ts';
import type { EncryptionKey } from './manifest.ts';

type Provider = Readonly<Record<string, { readonly name?: string; readonly keys?: readonly Key[] } | null>>;
interface Key {
  readonly name?: string;
  readonly secret?: string;
}

/** True for the text of an EncryptionConfiguration, which holds keys. */
export const isEncryptionConfiguration = (text: string): boolean =>
  /^[ \t]*["']?kind["']?\s*:\s*["']?EncryptionConfiguration\b/m.test(text) ||
  /"kind"\s*:\s*"EncryptionConfiguration"/.test(text);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The keys of an EncryptionConfiguration (kubernetes.io, "Encrypting Confidential Data at Rest"), each once, as hashes.
 * Throws on a text that is none.
 */
export function encryptionKeys(configuration: Secret): readonly EncryptionKey[] {
  const { resources } = parse(revealed(configuration)) as {
    readonly resources?: readonly { readonly providers?: readonly Provider[] }[];
  };
  if (!Array.isArray(resources)) throw new Error('is no EncryptionConfiguration');
  const keys = resources
    .flatMap(({ providers = [] }: { readonly providers?: readonly Provider[] }) => providers.flatMap(Object.entries))
    .flatMap(([provider, settings]: [string, Provider[string]]): readonly EncryptionKey[] => {
      if (provider === 'kms') return [{ provider, name: settings?.name ?? '' }];
      return (settings?.keys ?? []).map(({ name = '', secret = '' }) => ({ provider, name, sha256: sha256(secret) }));
    });
  return [...new Map(keys.map((key) => [`${key.provider} ${key.name} ${key.sha256 ?? ''}`, key])).values()];
}

/** The keys that `found` does not have: what they encrypted cannot be read there. */
export const missingKeys = (
  wanted: readonly EncryptionKey[],
  found: readonly EncryptionKey[],
): readonly EncryptionKey[] =>
  wanted.filter(({ sha256: hash }) => hash !== undefined && !found.some((key) => key.sha256 === hash));
