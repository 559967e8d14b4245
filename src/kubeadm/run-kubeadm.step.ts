import { signsAnyByCommand, signsByCommand } from '../certificates/authorities.value.ts';
import { placeCertificates } from '../certificates/leaves.ts';
import type { PkiFiles } from '../certificates/shared-files.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { peerUrl } from '../etcd/config.ts';
import { etcdFolderOf, withEtcdFolder } from '../etcd/etcd.facts.ts';
import { withEtcd } from '../etcd/view.facts.ts';
import { apiServerUrl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { On, Remote } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { settingsNote } from './settings.ts';
import { runsKubeadm } from './upgrade-job.ts';

/** An action of kubeadm that changes a host. */
type KubeadmAction = 'init' | 'join' | 'reset';

/**
 * Folder, below the job's own, with the patches of a job that has its own (files `patch_NAME`). The script adds the
 * host's patches.
 */
export const JOB_PATCHES = 'patches';

/** kubeadm's preflight check that no kubelet.conf exists on a joining host. */
const KUBELET_CONF_THERE = 'FileAvailable--etc-kubernetes-kubelet.conf';

/** Seconds after which `kubeadm reset` times out because the runtime is stuck. Successful resets took 2 s to 30 s. */
const SECONDS_TO_RESET = 180;

/** The backup from which an init brings a lost cluster back. */
export interface FromBackup {
  /** Identifies the backup and this restore in the marker, in etcd's token, and in the note on the host. */
  readonly about: string;
  /** Local file: the snapshot of etcd. */
  readonly snapshot: string;
  /** ISO 8601. */
  readonly taken: string;
  /** The keys of the control plane. */
  readonly pki: PkiFiles;
}

/**
 * The script that makes etcd's data from the backup's snapshot, and the preflight check to ignore, because it refuses
 * existing data.
 */
function dataOf(
  inventory: Inventory,
  host: LinuxHost,
  { about }: FromBackup,
): { readonly DATA: string; readonly IGNORED: string } {
  const folder = etcdFolderOf(inventory);
  const work = { WORK: `${folder}/${paths.restoreWork}`, FOLDER: folder };
  const data = using(
    script('kubeadm/etcd-data-of-backup.sh', { ...work, SNAPSHOT: paths.backupSnapshot }),
    using(
      script('etcd/etcd-restore-prepare.sh', {
        ...work,
        MANIFESTS: [`${work.WORK}/etcd.yaml`],
        NAME: host.name,
        PEER: peerUrl(host),
        CLUSTER: `${host.name}=${peerUrl(host)}`,
        TOKEN: `${inventory.name}-${about}`,
      }),
      script('kubeadm/etcd-data-in-place.sh', { ...work, NOTE: paths.restoredFrom, ABOUT: about }),
    ),
  );
  return { DATA: withRuntime(inventory, host, data).script, IGNORED: `DirAvailable-${folder.replaceAll('/', '-')}` };
}

function command(
  inventory: Inventory,
  host: LinuxHost,
  action: KubeadmAction,
  from: FromBackup | undefined,
): Command<'sh'> {
  const common = { CLUSTER: inventory.name, MARKER: paths.marker };
  if (action === 'reset')
    return withEtcdFolder(
      inventory,
      withRuntime(inventory, host, script('kubeadm/kubeadm-reset.sh', { ...common, SECONDS_TO_RESET })),
    );
  const { proxy } = inventory;
  return script('kubeadm/kubeadm-init-join.sh', {
    ...common,
    ACTION: action,
    PATCHES: paths.kubeadmPatches,
    JOB_PATCHES,
    SERVER: apiServerUrl(inventory, host),
    PLACE: signsAnyByCommand(inventory) ? placeCertificates(inventory, host).script : '',
    // A signing command has made the kubelet's certificate already, so kubelet.conf exists and the kubelet requests
    // none.
    IGNORED: signsByCommand(inventory, 'ca') && action === 'join' ? KUBELET_CONF_THERE : '',
    ...(from === undefined ? { DATA: '', ABOUT: '' } : { ...dataOf(inventory, host, from), ABOUT: from.about }),
    HTTP_PROXY_URL: proxy?.http ?? '',
    HTTPS_PROXY_URL: proxy?.https ?? '',
    NO_PROXY_LIST: proxy?.noProxy.join(',') ?? '',
    SETTINGS: action === 'init' ? JSON.stringify(settingsNote(inventory)) : '',
    MANAGER: FIELD_MANAGER,
  });
}

/**
 * Runs kubeadm's init, join or reset on a host. kbuild runs kubeadm only through this job, which outlives the
 * connection. Its script writes the marker first, then puts `pki` in place, and removes the marker after success.
 * `from`: an init begins with the data of a backup, whose snapshot lies on the host.
 * @throws CommandError if kubeadm fails.
 */
export async function kubeadmJob(
  remote: Remote<'sh'>,
  inventory: Inventory,
  action: KubeadmAction,
  config: Secret,
  pki: PkiFiles = {},
  from?: FromBackup,
): Promise<void> {
  const job = runsKubeadm(command(inventory, remote.host as LinuxHost, action, from));
  await remote.job(`kubeadm-${action}`, job, { 'config.yaml': config, ...pki });
}

/** The static pods of a control plane that write to etcd. */
const WRITERS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Permanently stops a control plane whose init did not finish: deletes its manifests. Its etcd member stays. */
const stopControlPlane = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  withRuntime(inventory, host, script('kubeadm/stop-control-plane.sh', { NAMES: WRITERS, ASIDE: '' }));

/** Stops a control plane and its etcd member: moves their manifests to `paths.restoreAside`. */
export const putControlPlaneAside = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('kubeadm/stop-control-plane.sh', { NAMES: [...WRITERS, 'etcd'], ASIDE: paths.restoreAside }),
  );

/**
 * Deletes the keys that an unfinished init wrote into an external etcd, through the host of a member. Stops the control
 * plane that wrote them first, so that it does not write them again.
 */
export async function forgetKeys(on: On, inventory: Inventory, founder: LinuxHost, through: LinuxHost): Promise<void> {
  await on(founder).job('stop-control-plane', stopControlPlane(inventory, founder));
  await on(through).run(
    withEtcd(inventory, through, sh`e forget "$@" --command-timeout 2m del /registry/ --prefix >/dev/null`),
  );
}
