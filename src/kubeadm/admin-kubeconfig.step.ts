import { placeCertificates, signedCertificates } from '../certificates/leaves.ts';
import { signingAuthority } from '../certificates/signing-command.value.ts';
import { hasControlPlane } from '../cluster/fleet/joined.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { ADMIN_CONF } from '../inventory/api-server.ts';
import { secretYaml } from '../shell/yaml.ts';
import { script } from '../templates.ts';
import { initDocuments } from './config.ts';

const CA_KEY = '/etc/kubernetes/pki/ca.key';

/**
 * Creates a lost admin.conf of a joined control plane again, because every command of kbuild needs it. The CA's key on
 * the host signs it, or the inventory's signing command does.
 */
export const adminKubeconfig: Step = {
  name: 'admin-kubeconfig',
  diff: (target) => {
    const { inventory, host, facts } = target;
    const traces = facts.kubernetesTraces;
    if (host.role !== 'control-plane' || traces.has(ADMIN_CONF) || !hasControlPlane(traces)) return [];
    if (standing(target) !== 'joined') return [];
    const signs = signingAuthority(inventory) !== undefined;
    if (!signs && !traces.has(CA_KEY))
      throw new Refused(
        'authority-key-missing',
        host.name,
        `its ${ADMIN_CONF} is gone, and so is the key of the cluster's CA (${CA_KEY}) that would sign a new one`,
        `copy ${ADMIN_CONF} from another control plane, or ${CA_KEY} from your backup`,
      );
    return [
      {
        summary: `make ${ADMIN_CONF} of ${host.name} again (found none)`,
        apply: async (on) => {
          if (signs) {
            const signed = await signedCertificates(on(host), inventory, ['admin.conf']);
            await on(host).job('admin-kubeconfig', placeCertificates(inventory, host, ['admin.conf']), signed);
            return;
          }
          await on(host).job('admin-kubeconfig', script('kubeadm/admin-kubeconfig.sh'), {
            'config.yaml': secretYaml(initDocuments(inventory, host)),
          });
        },
      },
    ];
  },
};
