import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { compareVersions } from '../versions.ts';
import { eachHost } from './each-host.ts';

/** The first minor whose kubelet does not start on cgroup v1 by itself (release notes of 1.35, #134298). */
export const WITHOUT_CGROUP_V1 = '1.35';

/** kubeadm's own check that fails on cgroup v1 from the same minor on. */
const KUBEADM_CHECK = 'SystemVerification';

function ignoresKubeadmCheck({ kubeadm }: Inventory, { role }: LinuxHost): boolean {
  const registration = (role === 'control-plane' ? kubeadm.init : kubeadm.join)['nodeRegistration'];
  const ignored = (registration as { readonly ignorePreflightErrors?: unknown } | undefined)?.ignorePreflightErrors;
  return Array.isArray(ignored) && ignored.some((name) => String(name).toLowerCase() === KUBEADM_CHECK.toLowerCase());
}

export const cgroupVersion = eachHost(
  {
    name: 'cgroup-version',
    title: 'cgroup v2 from Kubernetes 1.35 on, or the inventory accepts v1',
    why: `The kubelet does not start on cgroup v1 by itself from 1.35 on. Boot with \`systemd.unified_cgroup_hierarchy=1\`. Where that is impossible, say so in the inventory, for as long as Kubernetes still has the code:

\`\`\`yaml
kubelet: { config: { failCgroupV1: false } }
kubeadm:
  init: { nodeRegistration: { ignorePreflightErrors: [SystemVerification] } }
  join: { nodeRegistration: { ignorePreflightErrors: [SystemVerification] } }
\`\`\``,
    severities: ['error'],
  },
  ({ inventory, host, facts }) => {
    if (facts.cgroupVersion === 2 || compareVersions(inventory.kubernetes.minor, WITHOUT_CGROUP_V1) < 0) return [];
    const kind = host.role === 'control-plane' ? 'init' : 'join';
    const missing = [
      ...(host.kubelet.config['failCgroupV1'] === false ? [] : ['set kubelet.config.failCgroupV1: false']),
      ...(ignoresKubeadmCheck(inventory, host)
        ? []
        : [`add ${KUBEADM_CHECK} to kubeadm.${kind}.nodeRegistration.ignorePreflightErrors`]),
    ];
    if (missing.length === 0) return [];
    return [
      {
        severity: 'error',
        message: `runs on cgroup v1, and the kubelet of Kubernetes ${inventory.kubernetes.minor} needs cgroup v2`,
        remedy: `boot with systemd.unified_cgroup_hierarchy=1, or accept the deprecated v1: ${missing.join(' and ')}`,
      },
    ];
  },
);
