import { addressesOf, familyOf } from '../inventory/addresses.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { OsRelease } from './packages/distribution.value.ts';
import { knownDistribution } from './packages/distributions.value.ts';
import type { getsBinaries } from './packages/installer.value.ts';

/** The security context of a pod that SELinux does not confine. */
export const UNCONFINED = { seLinuxOptions: { type: 'spc_t' } } as const;

/** The package with SELinux' policy for containers, of the same name in every system that has it. */
export const SELINUX_POLICY = 'container-selinux';

/**
 * Whether the host's own repositories have the policy for containers; `image`: the system comes as a whole, with its
 * policy, or the host gets binaries and the operator sees to the policy.
 */
export function selinuxPolicy(
  target: Parameters<typeof getsBinaries>[0] & { readonly facts: { readonly osRelease: OsRelease } },
): 'package' | 'image' | 'none' {
  const distribution = knownDistribution(target.facts);
  if (distribution?.packages === undefined) return 'image';
  return distribution.helpers(target.facts.osRelease).includes(SELINUX_POLICY) ? 'package' : 'none';
}

/** The kernel settings that pods and Services need on a host with a runtime, and what each must be. */
export const REQUIRED_SYSCTLS: Readonly<Record<string, string>> = {
  'net.bridge.bridge-nf-call-iptables': '1',
  'net.bridge.bridge-nf-call-ip6tables': '1',
  'net.ipv4.ip_forward': '1',
};

/** What pods and Services need beside that on a host with an IPv6 address; kubeadm looks at the second one. */
export const REQUIRED_WITH_IPV6: Readonly<Record<string, string>> = {
  'net.ipv6.conf.all.forwarding': '1',
  'net.ipv6.conf.default.forwarding': '1',
};

/** The kernel settings without which pods and Services do not work on a host. */
export const requiredSysctls = (host: LinuxHost): Readonly<Record<string, string>> =>
  host.role === 'load-balancer'
    ? {}
    : { ...REQUIRED_SYSCTLS, ...(addressesOf(host).some((one) => familyOf(one) === 'IPv6') ? REQUIRED_WITH_IPV6 : {}) };

/** A setting that must stand before forwarding of IPv6, with which the kernel drops routes of router advertisements. */
const ACCEPT_RA = /^net\.ipv6\.conf\..*\.accept_ra$/;

/**
 * The kernel settings of a host: the required ones, then those of the inventory. The order counts: the kernel resets
 * `net.ipv4.conf.*` when `net.ipv4.ip_forward` changes (Documentation/networking/ip-sysctl.rst).
 */
export const sysctlsOf = (host: LinuxHost): readonly (readonly [name: string, value: string])[] => {
  const own = Object.entries(host.sysctls);
  const first = own.filter(([name]) => ACCEPT_RA.test(name));
  return Object.entries({ ...Object.fromEntries(first), ...requiredSysctls(host), ...host.sysctls });
};

/**
 * The file of a kernel setting. In its name dots and slashes are swapped (sysctl.d(5)), as in
 * `net.ipv4.conf.eth0/5.rp_filter`.
 */
export const sysctlFile = (name: string): string =>
  `/proc/sys/${name.replaceAll(/[./]/g, (separator) => (separator === '.' ? '/' : '.'))}`;
