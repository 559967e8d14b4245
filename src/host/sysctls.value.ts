import type { LinuxHost } from '../inventory/inventory.ts';

/** The kernel settings that pods and Services need on a host with a runtime, and what each must be. */
export const REQUIRED_SYSCTLS: Readonly<Record<string, string>> = {
  'net.bridge.bridge-nf-call-iptables': '1',
  'net.bridge.bridge-nf-call-ip6tables': '1',
  'net.ipv4.ip_forward': '1',
};

/**
 * The kernel settings of a host: the required ones, then those of the inventory. The order counts: the kernel resets
 * `net.ipv4.conf.*` when `net.ipv4.ip_forward` changes (Documentation/networking/ip-sysctl.rst).
 */
export const sysctlsOf = ({ role, sysctls }: LinuxHost): readonly (readonly [name: string, value: string])[] =>
  Object.entries({ ...(role === 'load-balancer' ? {} : REQUIRED_SYSCTLS), ...sysctls });

/**
 * The file of a kernel setting. In its name dots and slashes are swapped (sysctl.d(5)), as in
 * `net.ipv4.conf.eth0/5.rp_filter`.
 */
export const sysctlFile = (name: string): string =>
  `/proc/sys/${name.replaceAll(/[./]/g, (separator) => (separator === '.' ? '/' : '.'))}`;
