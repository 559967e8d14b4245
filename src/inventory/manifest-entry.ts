/** A manifest as an inventory names it: a file or URL, or one with the hash of its bytes. */
export type ManifestEntry = string | { readonly source: string; readonly sha256: string };

/** The file or URL. */
export const sourceOf = (entry: ManifestEntry): string => (typeof entry === 'string' ? entry : entry.source);

/** The SHA-256 that its bytes must have, in lower-case hexadecimal digits; undefined where none is given. */
export const checksumOf = (entry: ManifestEntry): string | undefined =>
  typeof entry === 'string' ? undefined : entry.sha256;
