import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type CheckGroup, eachHost, type HostFinding, type HostSeen } from '../engine/check.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { compareVersions } from '../versions.ts';
import { otherDriver } from './cgroup-driver.step.ts';
import { containerRuntime } from './runtimes.value.ts';

/** kubeadm's SystemVerification. */
const NEEDED = ['cpu', 'cpuset', 'memory', 'pids'];

const cgroupControllers = eachHost(
  {
    name: 'cgroup-controllers',
    title: 'the cgroup controllers cpu, cpuset, memory and pids are on',
    why:
      "A controller may be switched off on the kernel's command line (`cgroup_disable=memory`, the default of " +
      'Raspberry Pi OS: add `cgroup_enable=memory` there and reboot).',
    severities: ['error'],
  },
  ({ facts }) => {
    const missing = NEEDED.filter((name) => !facts.cgroupControllers.has(name));
    if (missing.length === 0) return [];
    return [
      {
        severity: 'error',
        message: `the kernel has switched off the cgroup controllers ${missing.join(', ')}`,
        remedy: "switch them on at the kernel's command line (cgroup_enable=…) and reboot",
      },
    ];
  },
);

/** Findings about pods of a joined host that run under another driver than the inventory's. */
function ofPods(seen: HostSeen): readonly HostFinding[] {
  const { inventory, host, facts } = seen;
  const { cgroupDriver: wanted } = inventory.runtime;
  const { title } = containerRuntime(inventory);
  const { cgroupDriverInUse: used, runtimeConfig, kubeletConfig } = facts;
  if (used === 'none' || used === wanted) return [];
  const runtimeDiffers = typeof runtimeConfig === 'object' && runtimeConfig.cgroupDriver !== wanted;
  const kubeletDiffers = kubeletConfig !== 'absent' && kubeletConfig['cgroupDriver'] !== wanted;
  const found = used === 'mixed' ? 'pods run by both cgroup drivers' : `pods run by the cgroup driver ${used}`;
  if (runtimeDiffers || kubeletDiffers || otherDriver(seen) !== undefined)
    return [
      {
        severity: 'due',
        message:
          `${found}; up drains the node, configures ${title} and the kubelet for ${wanted}, and restarts ` +
          'the pods that stay there',
      },
    ];
  return [
    {
      severity: 'warning',
      message: `${found}, though ${title} and the kubelet are configured for ${wanted}`,
      remedy: `\`kubectl drain ${host.name} --ignore-daemonsets\`, restart the host, \`kubectl uncordon ${host.name}\``,
    },
  ];
}

/** Two managers of one tree of cgroups: systemd's and the kubelet's own. */
function ofSystemd({ inventory, host, facts }: HostSeen): readonly HostFinding[] {
  if (inventoryOn(inventory, host).runtime.cgroupDriver !== 'cgroupfs' || facts.cgroupVersion !== 2) return [];
  if (facts.initSystem !== 'systemd' || host.role === 'load-balancer') return [];
  return [
    {
      severity: 'warning',
      message: 'systemd and, by cgroupfs, the kubelet would both manage the cgroups of this host (cgroup v2)',
      remedy: 'set runtime.cgroupDriver: systemd, or leave it out',
    },
  ];
}

/** Findings about the runtime of a host that is not a node yet. */
function ofFresh({ inventory, facts }: HostSeen): readonly HostFinding[] {
  const wanted = inventory.runtime.cgroupDriver;
  const config = facts.runtimeConfig;
  if (config === 'absent' || config === 'invalid' || config.cgroupDriver === wanted) return [];
  return [
    {
      severity: 'due',
      message: `${containerRuntime(inventory).title} has the cgroup driver ${config.cgroupDriver}, not ${wanted}`,
    },
  ];
}

const cgroupDriver = eachHost(
  {
    name: 'cgroup-driver',
    title: "runtime and pods have the inventory's cgroup driver",
    why:
      'With two drivers everything looks well at first, and minutes later pods die. On a joined host `up` ' +
      '[drains the node first](changing-a-cluster.md#the-cgroup-driver), one host at a time. With cgroupfs on cgroup ' +
      'v2 systemd and the kubelet manage one tree: Kubernetes advises against it.',
    severities: ['due', 'warning'],
  },
  (seen) => [...ofSystemd(seen), ...(hasKubelet(seen.facts) ? ofPods(seen) : ofFresh(seen))],
);

/** The first minor whose kubelet does not start on cgroup v1 by itself (release notes of 1.35, #134298). */
export const WITHOUT_CGROUP_V1 = '1.35';

/** kubeadm's own check that fails on cgroup v1 from the same minor on. */
const KUBEADM_CHECK = 'SystemVerification';

function ignoresKubeadmCheck({ kubeadm }: Inventory, { role }: LinuxHost): boolean {
  const registration = (role === 'control-plane' ? kubeadm.init : kubeadm.join)['nodeRegistration'];
  const ignored = (registration as { readonly ignorePreflightErrors?: unknown } | undefined)?.ignorePreflightErrors;
  return Array.isArray(ignored) && ignored.some((name) => String(name).toLowerCase() === KUBEADM_CHECK.toLowerCase());
}

const cgroupVersion = eachHost(
  {
    name: 'cgroup-version',
    title: 'cgroup v2 from Kubernetes 1.35 on, or the inventory accepts v1',
    why:
      'The kubelet does not start on cgroup v1 by itself from 1.35 on. Boot with ' +
      '`systemd.unified_cgroup_hierarchy=1`. Where that is impossible, say so in the inventory, for as ' +
      `long as Kubernetes still has the code:

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

export const cgroupChecks: CheckGroup = { host: [cgroupVersion, cgroupControllers, cgroupDriver] };
