import { refuseOverwriting } from '../certificates/authority.refusal.ts';
import { leavesOf, signedCertificates } from '../certificates/leaves.ts';
import { ownAuthorityFiles } from '../certificates/shared-files.ts';
import { founder } from '../cluster/founder.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { paths } from '../paths.ts';
import { secretYaml } from '../shell/yaml.ts';
import { initDocuments } from './config.ts';
import { type FromBackup, kubeadmJob } from './job.step.ts';

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
        : `bring the cluster ${inventory.name} back from the backup of ${from.taken}, Kubernetes ${version}, at ${inventory.endpoint} (found none)`;
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

/** Initializes a new cluster. */
export const kubeadmInit: Step = initOf();
