import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import {
  distributions,
  knownDistribution,
  supportedDistribution,
  unsupportedReason,
} from './packages/distributions.value.ts';

const SUPPORTED: readonly string[] = ['x86_64', 'aarch64'];

const architecture = eachHost(
  {
    name: 'architecture',
    title: 'the machine is x86_64 or aarch64',
    why:
      'Packages of Kubernetes and the runtime, and the images of the network plugin, are taken for amd64 and ' +
      'arm64 only.',
    severities: ['error'],
  },
  ({ facts }) =>
    SUPPORTED.includes(facts.arch)
      ? []
      : [
          {
            severity: 'error',
            message: `is a ${facts.arch} machine, and only ${SUPPORTED.join(' and ')} are supported`,
          },
        ],
);

const cloudInit = eachHost(
  {
    name: 'cloud-init',
    title: 'cloud-init has ended',
    why: 'While it runs it installs packages, writes /etc/hosts and may reboot. `up` waits for its end.',
    severities: ['due', 'warning'],
  },
  ({ facts }) => {
    if (facts.cloudInit === 'running') return [{ severity: 'due', message: 'cloud-init still runs' }];
    if (facts.cloudInit === 'failed')
      return [
        { severity: 'warning', message: 'cloud-init ended with errors', remedy: 'see: cloud-init status --long' },
      ];
    return [];
  },
);

/** kubeadm's ControlPlaneNumCPU. */
const NEEDED = 2;

const cpus = eachHost(
  {
    name: 'cpus',
    title: 'a control plane has two CPUs or more',
    why: 'kubeadm refuses to go on with one.',
    severities: ['error'],
  },
  ({ host, facts }) =>
    host.role !== 'control-plane' || facts.cpus >= NEEDED
      ? []
      : [{ severity: 'error', message: `has ${String(facts.cpus)} CPU, and a control plane needs ${String(NEEDED)}` }],
);

const initSystem = eachHost(
  {
    name: 'init-system',
    title: 'systemd is process 1',
    why: `The kubelet, the runtime and kbuild's jobs are units of systemd, whatever the cgroup driver.`,
    severities: ['error'],
    explainsUnknown: true,
  },
  ({ facts }) =>
    facts.initSystem === 'systemd'
      ? []
      : [
          {
            severity: 'error',
            message: `process 1 is ${facts.initSystem}, and only systemd is supported`,
            remedy: 'use a machine, or a container, that was booted with systemd',
          },
        ],
);

/** kubeadm's ControlPlaneMem. */
const CONTROL_PLANE_MIB = 1700;
const WORKER_MIB = 700;

const memory = eachHost(
  {
    name: 'memory',
    title: 'a control plane has 1700 MiB of memory or more, a worker 700 MiB',
    why:
      "1700 MiB is kubeadm's own limit. A worker with less than 700 MiB has room for little but the kubelet, the " +
      'runtime and the network.',
    severities: ['error', 'warning'],
  },
  ({ host, facts }) => {
    const found = `has ${String(facts.memoryMiB)} MiB of memory`;
    if (host.role === 'control-plane' && facts.memoryMiB < CONTROL_PLANE_MIB)
      return [{ severity: 'error', message: `${found}, and a control plane needs ${String(CONTROL_PLANE_MIB)}` }];
    if (facts.memoryMiB < WORKER_MIB)
      return [{ severity: 'warning', message: `${found}, and ${String(WORKER_MIB)} are advised` }];
    return [];
  },
);

const supported = distributions.filter(({ support }) => support === 'supported');
const known = distributions.filter(({ support }) => support === 'known');

const list = (separator: string): readonly string[] =>
  supported.map(({ name, versions }) => (versions === 'rolling' ? name : `${name} ${versions.join(separator)}`));

const also = known.length === 0 ? '' : `, also ${known.map(({ name }) => name).join(', ')},`;

const osSupported = eachHost(
  {
    name: 'os-supported',
    title: `the distribution is ${list(' or ').join(', ')}`,
    why:
      `kbuild knows how these install packages, or that they have none. Other distributions${also} are observed, ` +
      'and refused as not yet supported.',
    severities: ['error'],
  },
  ({ facts }) =>
    supportedDistribution(facts) !== undefined
      ? []
      : [
          {
            severity: 'error',
            message: unsupportedReason(facts),
            remedy: `use one of: ${list(', ').join('; ')}`,
          },
        ],
);

const pendingReboot = eachHost(
  {
    name: 'pending-reboot',
    title: 'no package asks for a reboot',
    why:
      'A kernel that was updated but does not run yet may miss its modules. Reboot before the host joins: ' +
      'afterwards that takes a drain.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.pendingReboot === 'none'
      ? []
      : [
          {
            severity: 'warning',
            message: `wants a reboot${facts.pendingReboot.length === 0 ? '' : ` (${facts.pendingReboot.join(', ')})`}`,
            remedy: 'reboot it now: a node must be drained first',
          },
        ],
);

const requiredTools = eachHost(
  {
    name: 'required-tools',
    title: 'mount, losetup, ip, ss, modprobe, flock, bash and a few others are installed',
    why: 'kubeadm looks for fewer with each release. Install the package that is named.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.missingTools.map((tool) => ({
      severity: 'error',
      message: `has no ${tool}`,
      remedy: `install ${knownDistribution(facts)?.toolPackages[tool] ?? `the package that brings ${tool}`}`,
    })),
);

/** Longer than any key exchange takes: sshd waits for a name server then (kubespray issue 9719). */
const SSHD_MS = 3000;
/** A login shell without files of its own takes a few ms. */
const SHELL_MS = 1500;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const slowLogin = eachHost(
  {
    name: 'slow-login',
    title: 'the SSH server lets in within 3 s, and the login shell runs a command within 1.5 s',
    why:
      'sshd that asks a silent name server for the name of the client (UseDNS, or PAM) makes each login wait; ' +
      'files of the login shell that do much make each command wait. Nothing fails, and all is slow.',
    severities: ['warning'],
  },
  ({ facts: { login } }) => {
    const found: HostFinding[] = [];
    if (login.sshdMs !== undefined && login.sshdMs > SSHD_MS)
      found.push({
        severity: 'warning',
        message: `its SSH server took ${seconds(login.sshdMs)} to let kbuild in`,
        remedy: 'set "UseDNS no" in sshd_config, or check its name servers, PAM modules and load',
      });
    if (login.shellMs !== undefined && login.shellMs > SHELL_MS)
      found.push({
        severity: 'warning',
        message: `its login shell took ${seconds(login.shellMs)} before it ran a command`,
        remedy: "check what the shell's files do without a terminal, e.g. ~/.bashrc",
      });
    return found;
  },
);

export const machineChecks: CheckGroup = {
  host: [osSupported, architecture, initSystem, cpus, memory, requiredTools, pendingReboot, cloudInit, slowLogin],
};
