import type { WindowsFlannel } from '../inventory/network-plugins.ts';
import { problem, type Rule } from '../inventory/schema/rule.ts';
import type { InventoryFile } from '../inventory/schema/schema.ts';
import { compareVersions } from '../versions.ts';
import { hasWindows, kubeProxyImage, type PluginFile } from './plugin.file.ts';

/** The only VXLAN port that Windows hosts support, and their lowest VXLAN identifier. */
const WINDOWS = { port: 4789, vni: 4096 } as const;
const LINUX = { port: 8472, vni: 1 } as const;

/** Windows hosts need VXLAN at port 4789, with identifiers of at least 4096. */
const windowsTunnels: Rule = (file) => {
  const { backend, port, vni } = file.network.flannel;
  if (backend !== 'vxlan' || !hasWindows(file)) return [];
  return [
    ...(port === undefined || port === WINDOWS.port
      ? []
      : [problem(['network', 'flannel', 'port'], `must be 4789 with Windows hosts, found ${port}; leave it out`)]),
    ...(vni === undefined || vni >= WINDOWS.vni
      ? []
      : [
          problem(
            ['network', 'flannel', 'vni'],
            `must be at least 4096 with Windows hosts, found ${vni}; leave it out`,
          ),
        ]),
  ];
};

/** The first release of flannel that can use nftables. */
const FIRST_WITH_NFTABLES = '0.25.0';

/** True if the tag of an image names a release of flannel that can use nftables; false if the tag names no version. */
function canUseNftables(image: string): boolean {
  const version = /:v?(\d+\.\d+\.\d+)(?:-[^:/@]*)?(?:@.*)?$/.exec(image)?.[1];
  return version !== undefined && compareVersions(version, FIRST_WITH_NFTABLES) >= 0;
}

/**
 * By default flannel uses nftables if kube-proxy does: a host without the kernel modules of iptables has none for
 * flannel.
 */
const usesNftables = ({ kubeadm, network: { flannel } }: InventoryFile): boolean =>
  flannel.nftables ?? (kubeadm.kubeProxy['mode'] === 'nftables' && canUseNftables(flannel.image));

function windowsOf(file: InventoryFile): WindowsFlannel | undefined {
  if (!hasWindows(file)) return undefined;
  const { flannel, windows } = file.network;
  const mode = flannel.backend === 'vxlan' ? 'overlay' : 'host-gw';
  return {
    mode,
    services: windows.services,
    flannelImage: windows.flannelImage,
    kubeProxyImage: kubeProxyImage(file),
  };
}

/** Reads the settings of flannel. */
export const flannel: PluginFile<'flannel'> = {
  rule: windowsTunnels,
  settings: (file) => ({
    plugin: 'flannel',
    flannel: { ...(hasWindows(file) ? WINDOWS : LINUX), ...file.network.flannel, nftables: usesNftables(file) },
    windows: windowsOf(file),
  }),
};
