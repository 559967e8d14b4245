import { signsAnyByCommand } from '../certificates/authorities.value.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import type { JsonObject } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { Remote } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { patches } from './config.ts';

/** A job that changes a host with kubeadm: it may use `mark`, which notes how far it came, and `run_kubeadm`. */
export const runsKubeadm = (job: Command<'sh'>): Command<'sh'> =>
  using('kubeadm/marker.sh', using('kubeadm/run-kubeadm.sh', job));

/**
 * How many backups of each kind kubeadm's folder keeps. kubeadm itself never deletes one
 * (kubernetes/kubernetes#125357).
 */
const BACKUPS_KEPT = 3;

/** Checks of kubeadm that the inventory makes warnings of, for init or for join. */
export const ignoredErrors = ({ kubeadm: { init, join } }: Inventory): readonly unknown[] => [
  ...new Set(
    [init, join].flatMap(({ nodeRegistration }) => {
      const { ignorePreflightErrors = [] } = (nodeRegistration ?? {}) as { readonly ignorePreflightErrors?: unknown[] };
      return ignorePreflightErrors;
    }),
  ),
];

/**
 * kubeadm's UpgradeConfiguration. It names the patches, because kubeadm does not remember them. The addons come last,
 * by themselves: kubeadm skips them without an error while it sees any older API server.
 */
function upgradeConfiguration(
  inventory: Inventory,
  host: LinuxHost,
  skipPhases: readonly string[] = ['addon'],
): JsonObject {
  const common = {
    // Without the key of an authority, kubeadm cannot sign its certificates.
    certificateRenewal: !signsAnyByCommand(inventory),
    etcdUpgrade: inventory.etcd.topology === 'stacked',
    imagePullPolicy: 'IfNotPresent',
    ignorePreflightErrors: ignoredErrors(inventory),
    skipPhases,
    ...patches(inventory, host),
  };
  return {
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'UpgradeConfiguration',
    apply: { kubernetesVersion: `v${inventory.kubernetes.version}`, ...common },
    node: common,
    // kubeadm's default of 2 minutes, tried ten times for each member, makes more than an hour of a member that is
    // down.
    timeouts: { etcdAPICall: '30s' },
  };
}

/**
 * Upgrades a host with kubeadm, as a job. `apply`: the first control plane, which also writes the version into the
 * cluster. `node`: the others, and workers. On a control plane the job ends when every component answers at its own
 * port.
 * @throws CommandError if kubeadm fails, or a component does not answer within 4 minutes
 */
export async function kubeadmUpgrade(
  remote: Remote<'sh'>,
  inventory: Inventory,
  host: LinuxHost,
  how: 'apply' | 'node',
): Promise<void> {
  const { proxy } = inventory;
  const job = script('kubeadm/kubeadm-upgrade.sh', {
    ...{ HOW: how, ROLE: host.role, VERSION: inventory.kubernetes.version, CLUSTER: inventory.name },
    ...{ MARKER: paths.marker, KUBERNETES: '/etc/kubernetes', KUBELET: '/var/lib/kubelet', KEPT: BACKUPS_KEPT },
    KUBECTL: host.role === 'control-plane' ? kubectl(inventory, host).join(' ') : '',
    HTTP_PROXY_URL: proxy?.http ?? '',
    HTTPS_PROXY_URL: proxy?.https ?? '',
    NO_PROXY_LIST: proxy?.noProxy.join(',') ?? '',
  });
  await remote.job('kubeadm-upgrade', runsKubeadm(job), {
    'config.yaml': secretYaml([upgradeConfiguration(inventory, host)]),
  });
}

/**
 * Upgrades kubeadm's addons, with the kubeadm of a control plane that is upgraded. @throws CommandError if kubeadm
 * fails
 */
export async function kubeadmAddons(remote: Remote<'sh'>, inventory: Inventory, host: LinuxHost): Promise<void> {
  await remote.job('kubeadm-addons', sh`kubeadm upgrade node phase addon all --config config.yaml`, {
    'config.yaml': secretYaml([upgradeConfiguration(inventory, host, [])]),
  });
}

/**
 * Makes what `kubeadm upgrade apply` leaves in the cluster, and `kubeadm upgrade node` does not: the stored
 * configurations, and the rules that joining hosts, kubelets and API servers need. @throws CommandError if kubeadm
 * fails
 */
export async function kubeadmRules(remote: Remote<'sh'>, inventory: Inventory, host: LinuxHost): Promise<void> {
  const rules = using(
    sh`kubeadm upgrade apply phase upload-config all --config config.yaml`,
    sh`kubeadm upgrade apply phase bootstrap-token --config config.yaml`,
  );
  await remote.job('kubeadm-rules', rules, {
    'config.yaml': secretYaml([upgradeConfiguration(inventory, host, [])]),
  });
}
