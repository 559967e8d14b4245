import { acting, liveCluster } from '../cluster/live.ts';
import { isNodeGone } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { clusterConfiguration, initConfiguration } from '../kubeadm/config.ts';
import { refuseElsewhere, withJoinToken } from '../kubeadm/worker-join.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { placeCertificates, signedByThisHost, signedCertificates } from './leaves.ts';
import { signingAuthority } from './signing-command.value.ts';

const CA = '/etc/kubernetes/pki/ca.crt';

/**
 * The flaw of the client certificate of a joined host's kubelet; undefined if it has none. The kubelet renews it by
 * itself, unless it was off for too long. Returns undefined for a deleted node: its kubelet would register it again
 * with a pod network that another node may have now.
 */
function flaw(target: Target): string | undefined {
  const { facts } = target;
  if (standing(target) !== 'joined' || isNodeGone(target)) return undefined;
  const found = facts.certificates.find(({ name }) => name === 'kubelet-client');
  if (found === undefined) return 'none';
  return Date.parse(found.expires) <= facts.nowMs ? `one that ended ${found.expires}` : undefined;
}

/** Lets the inventory's signing command sign the certificate. */
async function signedElsewhere({ inventory, host }: Target, on: On): Promise<void> {
  const signed = await signedCertificates(on(host), inventory, ['kubelet.conf']);
  const place = placeCertificates(inventory, host, ['kubelet.conf']);
  await on(host).job('kubelet-certificate', using(place, sh`systemctl restart kubelet`), signed);
}

/** Signs on the control plane itself: without this certificate the API may not answer. */
async function signedHere({ inventory, host }: Target, on: On): Promise<void> {
  await on(host).job('kubelet-certificate', using(signedByThisHost(inventory, host), sh`systemctl restart kubelet`), {
    'config.yaml': secretYaml([initConfiguration(inventory, host), clusterConfiguration(inventory)]),
  });
}

/** The kubeconfig with which a kubelet asks for its first certificate, as `kubeadm join` writes it. */
const bootstrapKubeconfig = ({ endpoint, name }: Inventory, token: Secret): Secret =>
  secretYaml([
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server: `https://${endpoint}`, 'certificate-authority': CA } }],
      users: [{ name: 'kubelet-bootstrap', user: { token } }],
      contexts: [{ name: 'bootstrap', context: { cluster: name, user: 'kubelet-bootstrap' } }],
      'current-context': 'bootstrap',
    },
  ]);

async function bootstrapped({ inventory, host, fleet }: Target, on: On): Promise<void> {
  liveCluster(fleet);
  await withJoinToken(on(acting(fleet)), inventory, host.name, (token) =>
    on(host).job('kubelet-certificate', script('certificates/bootstrap-kubelet.sh'), {
      bootstrap: bootstrapKubeconfig(inventory, token),
    }),
  );
}

/** A control plane whose kubelet has no valid certificate gets one without the API, so that its pods run again. */
export const kubeletCertificateOfControlPlane: Step = {
  name: 'kubelet-certificate',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host } = target;
    const found = host.role === 'control-plane' ? flaw(target) : undefined;
    if (found === undefined) return [];
    const sign = signingAuthority(inventory) === undefined ? signedHere : signedElsewhere;
    return [
      {
        summary: `sign a new certificate for the kubelet of ${host.name} (found ${found})`,
        apply: (on) => sign(target, on),
      },
    ];
  },
};

/** A worker whose kubelet has no valid certificate asks the cluster for a new one, as when it joined. */
export const kubeletCertificateOfWorker: Step = {
  name: 'kubelet-certificate',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host, fleet } = target;
    const found = flaw(target);
    if (found === undefined) return [];
    if (fleet.cluster.state === 'down') return [waitForApi(fleet.cluster)];
    refuseElsewhere(target);
    const renew = signingAuthority(inventory) === undefined ? bootstrapped : signedElsewhere;
    return [
      {
        summary: `get the kubelet of ${host.name} a new certificate (found ${found})`,
        apply: (on) => renew(target, on),
      },
    ];
  },
};
