import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { noCluster } from '../cluster/live.ts';
import { ConnectError } from '../errors.ts';
import { mergedKubeconfig } from '../kubeadm/kubeconfig.ts';
import type { Context } from '../session/context.ts';
import { fetchKubeconfig, writePrivate } from '../session/kubeconfig.ts';
import { withRun } from '../session/with-run.ts';
import { revealed } from '../shell/secret.ts';
import type { KubeconfigOptions } from './tools.command.ts';

/** `kbuild kubeconfig`: prints an admin kubeconfig, or merges it into a file. */
export const runKubeconfig = (outer: Context, flags: KubeconfigOptions): Promise<number> =>
  withRun(outer, flags, { command: 'kubeconfig', json: 'document' }, async ({ connected, context, inventory }) => {
    const fleet = connected.observations.fleet();
    const { cluster } = fleet;
    if (cluster.state !== 'up') {
      const error = (why: string): ConnectError => new ConnectError(inventory.name, why, { retryable: false });
      throw cluster.state === 'down' ? error(cluster.reason) : noCluster(fleet, error('no cluster was found'));
    }
    const admin = await fetchKubeconfig(inventory, cluster, connected.on);
    if (flags.merge === undefined) {
      // The operator wants the secret itself, so it is not masked.
      outer.out(revealed(admin));
      return 0;
    }
    const path = resolve(context.cwd, flags.merge);
    const before = await readFile(path, 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    });
    await writePrivate(path, mergedKubeconfig(before, admin));
    context.err(`merged into ${path}\n`);
    return 0;
  });
