import { REQUIRED_SYSCTLS } from '../../topology/sysctls.ts';
import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';
import { problem, warning, type Rule, type Violation } from './rule.ts';

/** Settings without which packets of pods are not forwarded. The kernel sets the last two with `net.ipv4.ip_forward`, too. */
const FORWARDING: Readonly<Record<string, string>> = {
  ...REQUIRED_SYSCTLS,
  'net.ipv4.conf.all.forwarding': '1',
  'net.ipv4.conf.default.forwarding': '1',
};

/** Settings that every kubelet sets when it starts: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go. */
const OF_KUBELET: Readonly<Record<string, string>> = {
  'vm.overcommit_memory': '1',
  'vm.panic_on_oom': '0',
  'kernel.panic': '10',
  'kernel.panic_on_oops': '1',
  'kernel.keys.root_maxkeys': '1000000',
  'kernel.keys.root_maxbytes': '25000000',
};

const CONNTRACK = 'net.netfilter.nf_conntrack_max';

type Sysctls = InventoryFile['sysctls'];

/** The places of kernel settings that reach a host with a kubelet. */
const places = ({ sysctls, roles, groups, hosts }: InventoryFile): readonly (readonly [Path, Sysctls])[] => {
  const nodes = hosts.filter(({ role, os }) => role !== 'load-balancer' && os === 'linux');
  return [
    [['sysctls'], sysctls],
    ...Object.entries(roles).map(([role, shared]) => [['roles', role, 'sysctls'], shared.sysctls] as const),
    ...Object.entries(groups)
      .filter(([name]) => nodes.some((host) => host.groups.includes(name)))
      .map(([name, group]) => [['groups', name, 'sysctls'], group.sysctls] as const),
    ...hosts.flatMap((host, i) => (nodes.includes(host) ? [[['hosts', i, 'sysctls'], host.sysctls] as const] : [])),
  ];
};

/** Kernel settings leave alone what kbuild, the kubelet or kube-proxy sets: two owners would change them for ever. */
export const ownedSysctls: Rule = (file) => {
  const { conntrack } = file.kubeadm.kubeProxy as { readonly conntrack?: { readonly maxPerCore?: unknown } | null };
  const check = (path: Path, name: string, value: string): readonly Violation[] => {
    const forwarding = FORWARDING[name] ?? value;
    if (forwarding !== value)
      return [problem(path, `must be ${forwarding}: without it pods and Services do not work; remove it`)];
    const kubelet = OF_KUBELET[name] ?? value;
    if (kubelet !== value) return [problem(path, `the kubelet sets it to ${kubelet} when it starts; remove it`)];
    return name === CONNTRACK && conntrack?.maxPerCore !== 0
      ? [
          warning(
            path,
            'kube-proxy sets it when it starts; set kubeadm.kubeProxy.conntrack instead, or conntrack.maxPerCore: 0 there, which leaves it alone',
          ),
        ]
      : [];
  };
  return places(file).flatMap(([path, sysctls]) =>
    Object.entries(sysctls).flatMap(([name, value]) => check([...path, name], name, String(value))),
  );
};
