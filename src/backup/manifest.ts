import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isObject, type JsonObject } from '../shell/decode.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const fingerprint = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/**
 * Names of parts: relative paths of plain words, so that a program that unpacks the archive writes below its folder
 * only.
 */
const PART_NAME = /^(?:[a-z0-9][a-z0-9-]*\/)*[a-z0-9][a-z0-9.-]*$/;

/** The first part. It describes all other parts. */
export const MANIFEST = 'manifest.json';
/** The last part: the snapshot of etcd. */
export const SNAPSHOT = 'snapshot.db';
/** The part with the text of the inventory. */
export const INVENTORY = 'inventory.yaml';

const part = z.strictObject({ name: z.string().max(100).regex(PART_NAME), size: z.int().nonnegative(), sha256: hash });

const encryptionKey = z.strictObject({
  /** `aescbc`, `aesgcm`, `secretbox`; `kms`, whose key no file holds. */
  provider: z.string(),
  name: z.string(),
  /** SHA-256 of the key as the file writes it (base64); missing for `kms`. */
  sha256: hash.optional(),
});

const schema = z.strictObject({
  format: z.literal('kbuild-backup'),
  /** A reader refuses a version that it does not know. */
  formatVersion: z.literal(1),
  /** Version of the kbuild that wrote the backup. */
  kbuild: z.string(),
  cluster: z.string().min(1),
  /** ISO 8601. */
  taken: z.iso.datetime(),
  kubernetes: z.string().regex(/^\d+\.\d+\.\d+/),
  endpoint: z.string(),
  /** Fingerprint of the public key of the cluster's CA. */
  ca: fingerprint,
  frontProxyCa: fingerprint,
  etcdCa: fingerprint,
  etcd: z.strictObject({
    topology: z.enum(['stacked', 'built']),
    revision: z.number(),
    keys: z.number(),
    /** Version of etcd's storage. */
    version: z.string(),
    members: z.array(z.strictObject({ name: z.string(), peerUrl: z.string() })),
  }),
  /** Name of the host from which kbuild took the files and the snapshot. */
  through: z.string(),
  controlPlanes: z.array(z.strictObject({ name: z.string(), address: z.string() })),
  workers: z.array(z.string()),
  /** kubeadm's ClusterConfiguration. */
  configuration: z.record(z.string(), z.unknown()),
  /** Path of the API servers' EncryptionConfiguration, and the keys in it; missing if there is none. */
  encryption: z.strictObject({ path: z.string(), keys: z.array(encryptionKey) }).optional(),
  /** Files that the inventory names: the name of the part, and the path on the machine that ran the backup. */
  files: z.array(z.strictObject({ name: z.string(), path: z.string() })),
  parts: z.array(part).max(2_000),
});

/** Describes a backup: its cluster, and the size and SHA-256 of each of its parts, in their order. */
export type Manifest = z.output<typeof schema>;
export type Part = Manifest['parts'][number];
/** A key of the API servers' encryption at rest: its name and a hash, never the key. */
export type EncryptionKey = z.output<typeof encryptionKey>;

/** The manifest as its part holds it. */
export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, undefined, 2)}\n`;

/** Names a backup: another one of the same cluster has another name. */
export const backupName = (manifest: Manifest): string =>
  `backup-${createHash('sha256').update(manifestText(manifest)).digest('hex').slice(0, 16)}`;

/** Reads a manifest. Throws an error that says what is wrong. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`its ${MANIFEST} is no JSON`);
  }
  const formatVersion = isObject(value) ? value['formatVersion'] : undefined;
  if (typeof formatVersion === 'number' && formatVersion > 1)
    throw new Error(`it has the format ${String(formatVersion)}, and this kbuild knows 1: use a newer kbuild`);
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new Error(`its ${MANIFEST} is not valid: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
}

/** kubeadm's ClusterConfiguration of a backup. */
export const configurationOf = ({ configuration }: Manifest): JsonObject => configuration;
