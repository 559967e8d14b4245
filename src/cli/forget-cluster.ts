import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { withoutCluster } from '../configuration/merged-kubeconfig.ts';
import type { ClusterView } from '../facts/cluster.ts';
import { spkiFingerprint } from '../shell/fingerprint.ts';
import { writePrivate } from './kubeconfig-file.ts';
import type { Run } from './session/run.ts';

interface Kubeconfig {
  readonly clusters?: readonly {
    readonly name: string;
    readonly cluster: { readonly 'certificate-authority-data'?: string };
  }[];
}

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

/**
 * After a reset: the operator's kubeconfig of the cluster, and what was merged of it into the first file of $KUBECONFIG or
 * ~/.kube/config. Only entries whose CA is the destroyed cluster's are taken out; what cannot be told stays.
 */
export async function forgetCluster(run: Run, destroyed: ClusterView): Promise<void> {
  const { context, inventory, flags } = run;
  const own = resolve(context.cwd, flags.kubeconfig ?? `${inventory.name}.kubeconfig`);
  const text = await read(own);
  if (text === undefined || destroyed.state === 'absent') return;
  const mine = (parse(text) as Kubeconfig | null)?.clusters?.find(({ name }) => name === inventory.name);
  const ca = mine?.cluster['certificate-authority-data'];
  if (ca === undefined) return;
  const isOther =
    destroyed.state === 'up' && spkiFingerprint(Buffer.from(ca, 'base64').toString()) !== destroyed.caFingerprint;
  if (isOther) return;
  await rm(own);
  context.err(`removed ${own}\n`);
  const merged = context.env['KUBECONFIG']?.split(':')[0] ?? join(context.env['HOME'] ?? context.cwd, '.kube/config');
  const before = await read(merged);
  const after = before === undefined ? undefined : withoutCluster(before, inventory.name, ca);
  if (after === undefined) return;
  await writePrivate(merged, after);
  context.err(`took ${inventory.name} out of ${merged}\n`);
}
