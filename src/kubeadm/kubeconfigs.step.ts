import { placeCertificates, restartedByLead, signedCertificates } from '../certificates/leaves.ts';
import { signingAuthority } from '../certificates/signing-command.value.ts';
import { hasControlPlane } from '../cluster/fleet/joined.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { ADMIN_CONF } from '../inventory/api-server.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import { secretYaml } from '../shell/yaml.ts';
import { script } from '../templates.ts';
import { initDocuments } from './config.ts';
import { refuseUnproved } from './endpoint-objects.step.ts';
import { isMoving, kubeconfigsAstray, serverAt } from './endpoint.ts';

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

const KUBELET_CONF = 'kubelet.conf';

/** The API reports whole seconds. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/**
 * True for a kubelet that an interrupted move has not restarted: it still uses the former kubeconfig. Only a move
 * writes the inventory's endpoint to kubelet.conf before kubeadm's configuration names it.
 */
function hasOldKubelet({ inventory, facts, fleet: { cluster } }: Target): boolean {
  if (cluster.state !== 'up' || !isMoving(inventory, cluster)) return false;
  const conf = facts.kubeconfigServers.get(KUBELET_CONF);
  const startedMs = facts.services.get('kubelet')?.startedMs ?? 0;
  return conf?.server === serverAt(inventory.endpoint) && startedMs > 0 && wholeSeconds(conf.changedMs) > startedMs;
}

function leading(target: Target, names: readonly string[], found: string): Change {
  const { inventory, host } = target;
  const kubelet = names.includes(KUBELET_CONF);
  const pods = restartedByLead(names);
  const server = serverAt(inventory.endpoint);
  return {
    summary: `lead ${names.join(', ')} of ${host.name} to ${server} (found ${found})`,
    ...(kubelet || pods.length > 0 ? { disrupts: true } : {}),
    restarts: [
      ...(kubelet ? [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }] : []),
      ...pods.map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
    ],
    apply: async (on) => {
      refuseUnproved(target);
      await on(host).job(
        'lead-kubeconfigs',
        withRuntime(
          inventory,
          host,
          script('kubeadm/lead-kubeconfigs.sh', {
            SERVER: server,
            CONFS: names,
            KUBELET: kubelet ? 'yes' : '',
            NODE: host.name,
            PODS: pods,
          }),
        ),
      );
    },
  };
}

/**
 * Points the kubeconfigs of a joined host to the inventory's endpoint. Restarts the kubelet, which must then report to
 * the API through the new endpoint. If it does not, the job restores the former kubeconfig.
 */
export const kubeconfigsLed: Step = {
  name: 'kubeconfigs-led',
  settleMs: 60_000,
  watches: { units: ['kubelet'] },
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { cluster } = fleet;
    if (cluster.state !== 'up' || (host.role !== 'control-plane' && host.role !== 'worker')) return [];
    if (standing(target) !== 'joined') return [];
    const astray = kubeconfigsAstray(inventory, cluster, { host, facts });
    if (astray.length > 0) {
      const found = [...new Set(astray.map(({ server }) => server))].join(', ');
      return [
        leading(
          target,
          astray.map(({ name }) => name),
          found,
        ),
      ];
    }
    return hasOldKubelet(target) ? [leading(target, [KUBELET_CONF], 'its kubelet older than the file')] : [];
  },
};
