import { basename } from 'node:path/posix';
import { type CheckGroup, eachHost, type HostFinding, type HostSeen } from '../engine/check.ts';
import { paths } from '../paths.ts';
import { dataFolderOf } from '../runtime/runtimes.value.ts';
import { compareVersions } from '../versions.ts';
import { MODULES } from './kernel.step.ts';
import { requiredSysctls, SELINUX_POLICY, selinuxPolicy, sysctlsOf } from './kernel.value.ts';
import { knownDistribution } from './packages/distributions.value.ts';
import { isSwitchedOn } from './services.facts.ts';

const apparmor = eachHost(
  {
    name: 'apparmor',
    title: 'where the kernel has AppArmor, its tools are installed',
    why:
      'Without `apparmor_parser` the runtime loads no profile, and containers run unconfined. The package ' +
      '`apparmor` brings it.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.securityModules.apparmor === 'toolless'
      ? [
          {
            severity: 'warning',
            message: 'the kernel has AppArmor, and apparmor_parser is missing: containers will run unconfined',
            remedy: 'install apparmor',
          },
        ]
      : [],
);

const kernelModules = eachHost(
  {
    name: 'kernel-modules',
    title: 'overlay, br_netfilter and nf_conntrack are loaded or built in',
    why:
      'The runtime keeps images on overlayfs, and without br_netfilter kube-proxy does not see what pods of one ' +
      'host say to each other; it sets the size of nf_conntrack at its start, and ends if there is none. `up` loads ' +
      'them. Where they are missing, install the modules of the running ' +
      'kernel, or reboot after a kernel update.',
    severities: ['due', 'error'],
  },
  ({ facts }) =>
    MODULES.flatMap((module): readonly HostFinding[] => {
      switch (facts.modules[module]) {
        case 'working':
          return [];
        case 'loadable':
          return [{ severity: 'due', message: `${module} is not loaded` }];
        case 'missing':
          return [
            {
              severity: 'error',
              message: `${module} is neither built into the kernel ${facts.kernel} nor there to be loaded`,
              remedy: 'install the modules of the running kernel, or reboot if the kernel was updated',
            },
          ];
      }
    }),
);

/** Kubernetes documentation, "Linux Kernel Version Requirements". */
const MINIMUM = '4.19';
const NFTABLES = '5.13';

const kernelVersion = eachHost(
  {
    name: 'kernel-version',
    title: 'the kernel is 4.19 or newer, and 5.13 or newer where kube-proxy uses nftables',
    why:
      'Kubernetes documents these minimums ("Linux Kernel Version Requirements"). ipvs is deprecated since ' +
      'Kubernetes 1.35: use iptables (the default) or nftables in `network.kubeProxy`.',
    severities: ['error', 'warning'],
  },
  ({ inventory, facts }) => {
    const version = /^\d+(?:\.\d+)*/.exec(facts.kernel)?.[0] ?? '0';
    const mode = inventory.kubeadm.kubeProxy['mode'];
    const [needed, what] = mode === 'nftables' ? [NFTABLES, 'kube-proxy with nftables'] : [MINIMUM, 'Kubernetes'];
    return [
      ...(compareVersions(version, needed) >= 0
        ? []
        : [
            {
              severity: 'error' as const,
              message: `runs kernel ${facts.kernel}, and ${what} needs ${needed}`,
              remedy: 'install a newer kernel and reboot',
            },
          ]),
      ...(mode === 'ipvs' && compareVersions(inventory.kubernetes.minor, '1.35') >= 0
        ? [
            {
              severity: 'warning' as const,
              message: 'kube-proxy would use ipvs, which is deprecated since Kubernetes 1.35',
              remedy: 'set network.kubeProxy: nftables, or leave it out',
            },
          ]
        : []),
    ];
  },
);

const WITHOUT = 'take runtime.selinux away from this host: let only groups of other hosts have it';

/** What keeps SELinux from confining containers, though the inventory asks for it. */
function confined(seen: HostSeen): readonly HostFinding[] {
  const { selinux } = seen.facts.securityModules;
  if (selinux === 'absent')
    return [
      {
        severity: 'error',
        message: 'has no SELinux, or it is switched off, and the inventory asks for runtime.selinux',
        remedy: `switch it on and reboot; or ${WITHOUT}`,
      },
    ];
  if (selinuxPolicy(seen) === 'none')
    return [
      {
        severity: 'error',
        message:
          `${knownDistribution(seen.facts)?.name ?? 'the system'} has no package ${SELINUX_POLICY}, without ` +
          'which the runtime cannot label containers',
        remedy: WITHOUT,
      },
    ];
  return selinux === 'enforcing'
    ? []
    : [
        {
          severity: 'warning',
          message: 'SELinux is permissive: containers get labels, and nothing is denied to them',
          remedy: 'setenforce 1 when the log has no denials any more: ausearch -m avc -ts recent',
        },
      ];
}

const selinux = eachHost(
  {
    name: 'selinux',
    title: 'SELinux confines containers if the inventory asks for it, and is not enforcing otherwise',
    why:
      'kbuild never switches SELinux on or off. Without `runtime.selinux` containers run as spc_t under an ' +
      'enforcing SELinux, without isolation by it, if the host has the policy of container-selinux; its ' +
      'repositories bring it along with the runtime. With `runtime.selinux: true` they are confined, and a host ' +
      'without SELinux or without the policy is refused ([hosts](hosts.md#selinux)). With container-selinux none ' +
      'of it was run; an enforcing host without it was, in the lab.',
    severities: ['error', 'warning'],
  },
  (seen) => {
    const { inventory, host, facts } = seen;
    if (inventory.runtime.selinux && host.role !== 'load-balancer') return confined(seen);
    return facts.securityModules.selinux === 'enforcing'
      ? [
          {
            severity: 'warning',
            message: 'SELinux is enforcing and stays so; it does not isolate containers from each other',
            remedy:
              'if something may not read or start: ausearch -m avc -ts recent, and restorecon -Rv /etc; to ' +
              'confine containers: runtime.selinux',
          },
        ]
      : [];
  },
);

const OURS = basename(paths.sysctl);

const sysctls = eachHost(
  {
    name: 'sysctls',
    title: 'forwarding, bridge filtering and the `sysctls` of the inventory are set and stay set',
    why:
      'Services need forwarding and bridge filtering. `up` writes a file for them and for `sysctls` of the ' +
      'inventory; a file that is read later and sets one of them to another value must be mended by hand, ' +
      'because it wins at the next boot. A setting of the inventory that the kernel does not have is a warning: ' +
      'correct its name, or load the module that brings it (`net.netfilter.*` comes with `nf_conntrack`). ' +
      'The next `up` sets it then.',
    severities: ['due', 'error', 'warning'],
  },
  ({ facts, host }) => {
    const wanted = new Map(sysctlsOf(host));
    const winning = facts.sysctlSettings.filter(
      ({ file, name, value }) => basename(file) > OURS && wanted.has(name) && value !== wanted.get(name),
    );
    const off = [...wanted].filter(([name, value]) => facts.sysctls[name] !== value);
    const without = off.filter(
      ([name]) =>
        !(name in requiredSysctls(host)) &&
        ['absent', 'unreadable'].includes(facts.sysctls[name]!) &&
        // `up` loads this module before it sets anything.
        !(name.startsWith('net.bridge.') && facts.modules.br_netfilter === 'loadable' && host.role !== 'load-balancer'),
    );
    const due = off.filter((one) => !without.includes(one));
    return [
      ...winning.map(({ file, name, value }): HostFinding => ({
        severity: name in requiredSysctls(host) ? 'error' : 'warning',
        message: `${file} sets ${name}=${value} at boot, after kbuild's own file`,
        remedy: `take the line out of ${file}`,
      })),
      ...without.map(([name]): HostFinding => ({
        severity: 'warning',
        message:
          facts.sysctls[name] === 'absent'
            ? `the kernel has no setting ${name}, which the inventory sets`
            : `${name}, which the inventory sets, has no value that can be read`,
        remedy:
          facts.sysctls[name] === 'absent'
            ? `correct its name in sysctls, or load the module that brings it and run \`kbuild up\` again`
            : `take it out of sysctls`,
      })),
      ...(due.length === 0
        ? []
        : [
            { severity: 'due' as const, message: due.map(([name]) => `${name} is ${facts.sysctls[name]!}`).join(', ') },
          ]),
    ];
  },
);

/** True if tuned may leave a kernel setting at another value than this one. */
function undoes(written: string, wanted: string): boolean {
  const limit = /^[<>](\d+)$/.exec(written)?.[1];
  // Only a value beyond the limit is changed.
  if (limit !== undefined && /^\d+$/.test(wanted))
    return written.startsWith('>') ? Number(wanted) < Number(limit) : Number(wanted) > Number(limit);
  return written !== wanted;
}

const tuned = eachHost(
  {
    name: 'tuned',
    title: 'tuned leaves the kernel settings of kbuild alone',
    why:
      'tuned, which many systems run from the beginning, writes kernel settings after the files of ' +
      '`/etc/sysctl.d`, at every boot. By default it then writes these files again, and last of all ' +
      "`/etc/sysctl.conf`: a line there wins over kbuild's file. With `reapply_sysctl = 0` in " +
      '`/etc/tuned/tuned-main.conf` its profile wins. A setting that Services need is an error, one of the ' +
      "inventory's `sysctls` a warning.",
    severities: ['error', 'warning'],
    watches: { units: ['tuned'] },
  },
  ({ facts, host }) => {
    if (!isSwitchedOn(facts.services.get('tuned'))) return [];
    const wanted = new Map(sysctlsOf(host));
    return facts.tunedSettings
      .filter(({ name, value }) => wanted.has(name) && undoes(value, wanted.get(name)!))
      .map(({ file, name, value }) => ({
        severity: name in requiredSysctls(host) ? ('error' as const) : ('warning' as const),
        message: `tuned sets ${name}=${value} after kbuild's file, by ${file} (wanted ${wanted.get(name)!})`,
        remedy:
          file === '/etc/sysctl.conf'
            ? `take the line out of ${file}`
            : 'set reapply_sysctl = 1 in /etc/tuned/tuned-main.conf, then systemctl restart tuned; or choose ' +
              'another profile: tuned-adm profile NAME',
      }));
  },
);

const FAPOLICYD = 'fapolicyd';

const allowList = eachHost(
  {
    name: 'fapolicyd',
    title: 'no allow-list of programs (fapolicyd) runs',
    why:
      'fapolicyd lets only programs run that a package of the system brought. The plugins of the pod network and ' +
      'what is in images come from no such package: "operation not permitted", and nodes never get Ready. Allow ' +
      'their folders in a file of /etc/fapolicyd/rules.d that is read before the rules that deny, then ' +
      '`fagenrules --load`. kbuild does not see whether you have; with `--ignore-check fapolicyd` it goes on. Not ' +
      'run in the lab.',
    severities: ['warning'],
    watches: { units: [FAPOLICYD] },
  },
  ({ inventory, host, facts }) =>
    isSwitchedOn(facts.services.get(FAPOLICYD)) && host.role !== 'load-balancer'
      ? [
          {
            severity: 'warning',
            message: 'fapolicyd runs: unless it is told, it lets no plugin of the pod network and no container run',
            remedy:
              `write lines "allow perm=any all : dir=FOLDER/" for /opt/cni/bin, ${dataFolderOf(inventory)} and ` +
              '/var/lib/kubelet to /etc/fapolicyd/rules.d/30-kubernetes.rules, then `fagenrules --load`',
          },
        ]
      : [],
);

export const kernelChecks: CheckGroup = {
  host: [kernelVersion, kernelModules, sysctls, tuned, selinux, apparmor, allowList],
};
