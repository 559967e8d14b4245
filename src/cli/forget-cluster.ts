import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { withoutCluster } from '../configuration/merged-kubeconfig.ts';
import type { ClusterView } from '../facts/cluster.ts';
import { spkiFingerprint } from '../shell/fingerprint.ts';
import { kubeconfigPath, writePrivate } from './kubeconfig-file.ts';
import type { Run } from './session/run.ts';

interface Kubeconfig {
  readonly clusters?: readonly {
    readonly name: string;
    readonly cluster: { readonly 'certificate-authority-data'?: string };
  }[];
}

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

/**
 * Removes the destroyed cluster from the operator's machine: the kubeconfig that `up` wrote, and the cluster's entries in the
 * first file of $KUBECONFIG or in ~/.kube/config. Removes only entries with the CA of the destroyed cluster.
 */
export async function forgetCluster(run: Run, destroyed: ClusterView): Promise<void> {
  const { context, inventory } = run;
  const own = kubeconfigPath(run);
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
