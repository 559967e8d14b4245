import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type PartToWrite, textPart } from '../backup/archive.ts';
import { isEncryptionConfiguration } from '../backup/encryption.ts';
import { INVENTORY, type Manifest, SNAPSHOT } from '../backup/manifest.ts';
import { PKI } from '../backup/read.ts';
import { spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { authorityFiles, readPki } from '../certificates/shared-files.ts';
import { liveCluster } from '../cluster/live.ts';
import { liveEtcd } from '../cluster/member-host.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { Refused } from '../errors.ts';
import type { SnapshotStatus } from '../etcd/snapshot.ts';
import { inventoryTexts } from '../inventory/file/load.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { Run } from '../session/run.ts';
import { madeOf, type Secret } from '../shell/secret.ts';
import { docsPage, ownVersion } from '../versions.ts';
import { encryptionAtRest } from './backup-file.ts';

/** A manifest, and the parts that it describes. */
interface Contents {
  readonly manifest: Manifest;
  readonly parts: readonly PartToWrite[];
}

/**
 * The files that cannot be made again, of a control plane and of a member of etcd. @throws Refused when one is missing
 */
async function pkiOf(run: Run, control: LinuxHost, member: LinuxHost): Promise<ReadonlyMap<string, Secret>> {
  const { connected, inventory } = run;
  const common = [
    ...authorityFiles(inventory, 'ca'),
    ...authorityFiles(inventory, 'front-proxy-ca'),
    'sa.key',
    'sa.pub',
  ];
  const ofEtcd = authorityFiles(inventory, 'etcd-ca');
  const found = new Map([
    ...(await readPki(connected.on(control), common)),
    ...(await readPki(connected.on(member), ofEtcd)),
  ]);
  const missing = [...common, ...ofEtcd].filter((name) => !found.has(name));
  if (missing.length > 0)
    throw new Refused(
      'authority-missing',
      control.name,
      `/etc/kubernetes/pki has no ${missing.join(', ')}, and a backup without it could not bring the cluster back`,
      `copy it from another control plane that has it; if none has it, see ${docsPage('operations.md#a-key-is-lost')}`,
    );
  return found;
}

/** A part whose text is secret. It goes nowhere but into the encryption. */
function secretPart(name: string, secret: Secret): PartToWrite {
  let part: PartToWrite | undefined;
  madeOf(secret, (text) => {
    part = textPart(name, text);
    return '';
  });
  return part!;
}

/** The inventory and what it names, without files that hold keys of the encryption at rest. */
async function inventoryParts({
  context,
  inventory,
}: Run): Promise<{ parts: PartToWrite[]; files: Manifest['files'] }> {
  if (inventory.file === '-')
    throw new Refused(
      'inventory-from-stdin',
      inventory.name,
      'the inventory came from standard input',
      'name its file: -i FILE',
    );
  const { text, files } = await inventoryTexts(inventory.file, context);
  const kept = files.filter(({ bytes }) => !isEncryptionConfiguration(Buffer.from(bytes).toString('utf8')));
  const named = kept.map(({ path, bytes }, i) => ({ path, bytes, name: `files/${String(i + 1)}` }));
  return {
    files: named.map(({ name, path }) => ({ name, path })),
    parts: [
      textPart(INVENTORY, text),
      ...named.map(({ name, bytes }) => ({
        part: { name, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
        content: () => [bytes],
      })),
    ],
  };
}

async function filePart(name: string, path: string): Promise<PartToWrite> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return {
    part: { name, size: (await stat(path)).size, sha256: hash.digest('hex') },
    content: () => createReadStream(path, { highWaterMark: 1 << 20 }),
  };
}

const fingerprintOf = (pki: ReadonlyMap<string, Secret>, name: string): string => {
  let found = '';
  madeOf(pki.get(name)!, (pem) => (found = spkiFingerprint(pem)));
  return found;
};

/** All that a backup holds. `snapshot`: the local file of a verified snapshot, taken through `member`. */
export async function backupContents(
  run: Run,
  { control, member }: { readonly control: LinuxHost; readonly member: LinuxHost },
  snapshot: { readonly path: string; readonly status: SnapshotStatus },
): Promise<Contents> {
  const { connected, context, inventory } = run;
  const fleet = connected.observations.fleet();
  const cluster = liveCluster(fleet);
  const { members } = inventory.etcd.topology === 'built' ? liveEtcd(fleet) : cluster;
  const pki = await pkiOf(run, control, member);
  const { parts: texts, files } = await inventoryParts(run);
  const encryption = await encryptionAtRest(connected.on(control), control, cluster.configuration);
  const controls = controlPlaneNodes(cluster);
  const parts = [
    ...[...pki].map(([name, content]) => secretPart(`${PKI}${name}`, content)),
    ...texts,
    await filePart(SNAPSHOT, snapshot.path),
  ];
  const { revision, keys, version } = snapshot.status;
  return {
    parts,
    manifest: {
      format: 'kbuild-backup',
      formatVersion: 1,
      kbuild: ownVersion(),
      cluster: inventory.name,
      taken: new Date(context.nowMs()).toISOString(),
      kubernetes: cluster.version,
      endpoint: inventory.endpoint,
      ca: fingerprintOf(pki, 'ca.crt'),
      frontProxyCa: fingerprintOf(pki, 'front-proxy-ca.crt'),
      etcdCa: fingerprintOf(pki, 'etcd/ca.crt'),
      etcd: {
        topology: inventory.etcd.topology === 'built' ? 'built' : 'stacked',
        revision,
        keys,
        version,
        members: members.map(({ name, peerUrl }) => ({ name, peerUrl })),
      },
      through: control.name,
      controlPlanes: controls.map(({ name, internalAddress }) => ({ name, address: internalAddress })),
      workers: cluster.nodes.map(({ name }) => name).filter((name) => !controls.some((one) => one.name === name)),
      configuration: cluster.configuration,
      ...(encryption === undefined ? {} : { encryption }),
      files,
      parts: parts.map(({ part }) => part),
    },
  };
}
