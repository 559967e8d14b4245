import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { isDue, type Validity } from '../certificates/validity.value.ts';
import type { ClusterUp, ClusterView } from '../cluster/fleet/view.ts';
import { notLive } from '../cluster/live.ts';
import { casOf } from '../cluster/standings.ts';
import { ConnectError, UsageError } from '../errors.ts';
import { apiServerUrl } from '../inventory/api-server.ts';
import { linuxHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { adminKubeconfig, mergedKubeconfig, withoutCluster } from '../kubeadm/kubeconfig.ts';
import { paths } from '../paths.ts';
import type { Context } from '../session/context.ts';
import type { Run } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { kubeconfigOf, objectsOf, textIn, within } from '../shell/decode.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { systemText } from '../shell/text.ts';
import type { On } from '../ssh/remote.ts';
import { isSpecial } from './own-file.ts';
import type { KubeconfigOptions } from './tools.command.ts';

/** What a copy of admin.conf shows: whose CA it trusts first (fingerprint), and when its certificate is valid. */
interface AdministratorCopy extends Validity {
  readonly ca: string;
}

/** kubeadm's name for the user of admin.conf (cmd/kubeadm/app/phases/kubeconfig/kubeconfig.go). */
const ADMINISTRATOR = /^CN=kubernetes-admin$/m;

const decoded = (data: string): string => Buffer.from(data, 'base64').toString();

function copyIn(text: string): AdministratorCopy | undefined {
  const { whole, clusters } = kubeconfigOf(text);
  const users = objectsOf(whole['users']);
  const ca = textIn(clusters[0]?.cluster['certificate-authority-data'], '');
  const data = textIn(within(users[0], 'user')['client-certificate-data'], '');
  // What holds more than one of them is a file that the operator has put together.
  if (clusters.length !== 1 || users.length !== 1 || ca === '' || data === '') return undefined;
  const { subject, validFrom, validTo } = new X509Certificate(decoded(data));
  if (!ADMINISTRATOR.test(subject)) return undefined;
  return { ca: spkiFingerprint(decoded(ca)), beginsMs: Date.parse(validFrom), endsMs: Date.parse(validTo) };
}

/**
 * Undefined for what is no copy of admin.conf: another user's kubeconfig, one of several clusters, or no kubeconfig at
 * all.
 */
function administratorCopy(text: string): AdministratorCopy | undefined {
  try {
    return copyIn(text);
  } catch {
    // No YAML, or no certificate: kbuild did not write it.
    return undefined;
  }
}

/**
 * Writes text into a file that no other user can ever read: mode 0600 before the first byte, then renamed. A pipe or a
 * device gets the text: a rename would put a file in the place of /dev/null.
 */
export async function writePrivate(path: string, content: Secret): Promise<void> {
  if (isSpecial(path)) {
    await writeFile(path, revealed(content));
    return;
  }
  const temporary = `${path}.${String(process.pid)}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(revealed(content));
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Where `up` writes the admin kubeconfig; `--kubeconfig` names another file. */
export const kubeconfigPath = ({ context, inventory }: Pick<Run, 'context' | 'inventory'>, named?: string): string =>
  resolve(context.cwd, named ?? `${inventory.name}.kubeconfig`);

/** Checks, before a cluster is built, that the kubeconfig can be written. @throws UsageError */
export async function checkKubeconfigPath(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    throw new UsageError(`the kubeconfig cannot be written: ${systemText(error)}`, {
      remedy: 'name another file with --kubeconfig PATH',
      cause: error,
    });
  }
}

/**
 * The admin kubeconfig of a cluster that answers, with the endpoint as its server. An endpoint on the loopback
 * interface of the nodes is of no use elsewhere: the server is then the control plane that answered.
 */
export async function fetchKubeconfig(inventory: Inventory, cluster: ClusterUp, on: On): Promise<Secret> {
  const via = linuxHosts(inventory).find(({ name }) => name === cluster.via)!;
  const server =
    inventory.loadBalancer.kind === 'local' ? apiServerUrl(inventory, via) : `https://${inventory.endpoint}`;
  return adminKubeconfig(await on(via).reveal(sh`cat ${paths.adminConf}`), server);
}

/** The CA of a cluster in a kubeconfig, in base64; empty if it has none, and in a file of another form. */
function caIn(text: string, name: string): string {
  try {
    const mine = kubeconfigOf(text).clusters.find(({ entry }) => entry['name'] === name);
    return textIn(mine?.cluster['certificate-authority-data'], '');
  } catch {
    return '';
  }
}

const read = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

/**
 * Fetches the admin kubeconfig into a file. Writes nothing if no cluster answers. `if-due` writes it only in two cases:
 * the file is missing; or it is a copy of this cluster's admin.conf that ends soon while the host's admin.conf ends
 * later. A run that was cut off after it had renewed admin.conf, and before it wrote the file, leaves such a copy.
 * @throws UsageError for a folder that cannot be written; `always`: the caller has checked it
 */
export async function writeKubeconfig(run: Run, path: string, when: 'always' | 'if-due'): Promise<void> {
  const { context, flags, inventory, connected } = run;
  const isKept = when === 'if-due' && existsSync(path);
  const copy = isKept ? administratorCopy((await read(path)) ?? '') : undefined;
  // Most runs end here: they ask no host.
  if (isKept && (copy === undefined || !isDue(copy, context.nowMs(), inventory.certificates.renewBeforeMs))) return;
  const { value: cluster } = await connected.observations.evaluate((fleet) => fleet.cluster);
  if (cluster.state !== 'up') return;
  if (copy !== undefined && !casOf(cluster).includes(copy.ca)) return;
  const fetched = await fetchKubeconfig(inventory, cluster, connected.on);
  if (copy !== undefined && (administratorCopy(revealed(fetched))?.endsMs ?? 0) <= copy.endsMs) return;
  if (when === 'if-due') await checkKubeconfigPath(path);
  await writePrivate(path, fetched);
  if (flags.quiet !== true) context.err(`kubeconfig: ${path}\n`);
}

/**
 * Removes the destroyed cluster from the operator's machine: the kubeconfig that `up` wrote, and the cluster's entries
 * in the first file of $KUBECONFIG or in ~/.kube/config. Removes only entries with the CA of the destroyed cluster.
 */
export async function forgetCluster(run: Run, destroyed: ClusterView): Promise<void> {
  const { context, inventory } = run;
  const own = kubeconfigPath(run);
  const text = await read(own);
  if (text === undefined || destroyed.state === 'absent') return;
  const ca = caIn(text, inventory.name);
  if (ca === '') return;
  const isOther =
    destroyed.state === 'up' && !casOf(destroyed).includes(spkiFingerprint(Buffer.from(ca, 'base64').toString()));
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

/** `kbuild kubeconfig`: prints an admin kubeconfig, or merges it into a file. */
export const runKubeconfig = (outer: Context, flags: KubeconfigOptions): Promise<number> =>
  withRun(outer, flags, { command: 'kubeconfig', json: 'document' }, async ({ connected, context, inventory }) => {
    const fleet = connected.observations.fleet();
    const { cluster } = fleet;
    if (cluster.state !== 'up') {
      throw cluster.state === 'down'
        ? new ConnectError(inventory.name, cluster.reason, { retryable: false })
        : notLive({ inventory, fleet })!;
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
