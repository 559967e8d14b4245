import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import { adminKubeconfig } from '../cluster/kubeconfig.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import { linuxHosts } from '../inventory/select.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { Run } from './run.ts';

/** Text into a file that nobody else can read, at no moment: 0600 from the first byte, then renamed. */
export async function writePrivate(path: string, content: Secret): Promise<void> {
  const temporary = `${path}.${String(process.pid)}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(revealed(content));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** The admin kubeconfig of a cluster that answers, with the endpoint as its server. */
export async function fetchKubeconfig(inventory: Inventory, cluster: ClusterUp, on: On): Promise<Secret> {
  const via = linuxHosts(inventory).find(({ name }) => name === cluster.via)!;
  return adminKubeconfig(await on(via).reveal(sh`cat ${paths.adminConf}`), inventory.endpoint);
}

/** Fetches the admin kubeconfig into `./<name>.kubeconfig` or `--kubeconfig`; nothing where no cluster answers. */
export async function writeKubeconfig(run: Run, when: 'always' | 'if-missing'): Promise<void> {
  const { context, flags, inventory, connected } = run;
  const path = resolve(context.cwd, flags.kubeconfig ?? `${inventory.name}.kubeconfig`);
  if (when === 'if-missing' && existsSync(path)) return;
  const { value: cluster } = await connected.watch.evaluate((fleet) => fleet.cluster);
  if (cluster.state !== 'up') return;
  await writePrivate(path, await fetchKubeconfig(inventory, cluster, connected.on));
  if (flags.quiet !== true) context.err(`kubeconfig: ${path}\n`);
}
