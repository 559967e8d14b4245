import { refuseOverwriting } from '../certificates/authority.refusal.ts';
import { leavesOf, signedCertificates } from '../certificates/leaves.ts';
import { ownAuthorityFiles } from '../certificates/shared-files.ts';
import { founder, standing } from '../cluster/standing.ts';
import type { Change, Step } from '../engine/step.ts';
import { CommandError, Refused } from '../errors.ts';
import { fileChanges } from '../host/file.step.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import { initDocuments } from './config.ts';
import { type FromBackup, kubeadmJob } from './run-kubeadm.step.ts';

/** What the inventory calls the documents of kubeadm's configuration. */
const SETTINGS: Readonly<Record<string, string>> = {
  InitConfiguration: 'kubeadm.init',
  ClusterConfiguration: 'kubeadm.cluster',
  KubeletConfiguration: 'kubelet.config',
  KubeProxyConfiguration: 'kubeadm.kubeProxy',
};

/**
 * The setting of the inventory that kubeadm's message is about: `kubeadm.cluster.apiServer.certSans`, or the document
 * alone; undefined where it names none.
 */
export function settingIn(message: string): string | undefined {
  const [, kind = ''] = /Kind:"(\w+)"/.exec(message) ?? [];
  const document = SETTINGS[kind];
  const [, field] = /unknown field "([^"]+)"/.exec(message) ?? [];
  return document === undefined || field === undefined ? document : `${document}.${field}`;
}

const remedyFor = (message: string): string => {
  const setting = settingIn(message);
  return `mend ${setting ?? 'what it names'} in the inventory; nothing of the cluster was made yet`;
};

/** The same change; where kubeadm refuses the file, the error says which setting to mend. */
const named = ({ apply, ...change }: Change): Change => ({
  ...change,
  summary: 'have kubeadm accept its configuration (found not asked yet)',
  ...(apply === undefined
    ? {}
    : {
        apply: (on) =>
          apply(on).catch((error: unknown) => {
            if (!(error instanceof CommandError)) throw error;
            throw new CommandError(error.host, error.command, error, remedyFor(error.stderr));
          }),
      }),
});

/**
 * The first control plane's kubeadm accepts the configuration with which it will create the cluster, strictly, before
 * images are pulled and anything of the cluster is made: it knows its fields better than the tables of `validate`. The
 * accepted file notes that. It is volatile, and nothing reads it.
 */
export const acceptedConfiguration: Step = {
  name: 'kubeadm-config',
  watches: { files: [paths.acceptedConfig] },
  diff: (target) => {
    const { inventory, host, fleet } = target;
    if (host.role !== 'control-plane' || standing(target) === 'joined') return [];
    const first = founder(inventory, fleet);
    if ('none' in first || first.host.name !== host.name) return [];
    const content = secretYaml(initDocuments(inventory, host));
    const validate = (path: string) => sh`kubeadm config validate --config ${path}`;
    return fileChanges(target, { path: paths.acceptedConfig, content, validate }).map(named);
  },
};

/**
 * Initializes a new cluster on its founder. The other control planes join it. `from`: restore a cluster whose control
 * planes are lost; the founder starts with the keys and the data of a backup.
 */
export const initOf = (from?: FromBackup): Step => ({
  name: 'kubeadm-init',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host, fleet } = target;
    const first = founder(inventory, fleet);
    if ('none' in first) {
      if (fleet.cluster.state !== 'absent') return [];
      throw new Refused('cannot-create', host.name, `it cannot create ${inventory.name}: ${first.none}`);
    }
    if (first.host.name !== host.name) return [];
    if (from === undefined) refuseOverwriting(inventory, target);
    const { version } = inventory.kubernetes;
    const summary =
      from === undefined
        ? `create the cluster ${inventory.name}, Kubernetes ${version}, at ${inventory.endpoint} (found none)`
        : `bring the cluster ${inventory.name} back from the backup of ${from.taken}, Kubernetes ${version}, at ` +
          `${inventory.endpoint} (found none)`;
    return [
      {
        summary,
        apply: async (on) => {
          // Keep the backup's key of service accounts: it signed every token.
          const accounts = from === undefined ? 'with-accounts' : 'without-accounts';
          const signed = await signedCertificates(on(host), inventory, leavesOf(host, 'init'), accounts);
          if (from !== undefined) await on(host).upload(from.snapshot, paths.backupSnapshot, 0o600);
          const files = { ...ownAuthorityFiles(inventory), ...signed, ...from?.pki };
          await kubeadmJob(on(host), inventory, 'init', secretYaml(initDocuments(inventory, host)), files, from);
        },
      },
    ];
  },
});
