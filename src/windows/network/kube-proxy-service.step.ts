import { runsOnWindows, where } from '../../engine/combinators.ts';
import type { Step, Target } from '../../engine/step.ts';
import { networkPlugin } from '../../network/plugins.value.ts';
import { windowsPaths } from '../../paths.ts';
import { powershell } from '../../templates.ts';
import { proxyEnvironment } from '../environment.step.ts';
import { NSSM, nssmParameters, type WantedWindowsService, windowsServiceChanges } from '../service.step.ts';
import { hnsNetwork, isService } from './hns.step.ts';

/** The source address that was reserved in the node's current pod subnet; undefined if none is. */
function reservedAddress({ inventory, facts }: Target<'windows'>): string | undefined {
  const network = facts.hns.networks.find(({ name }) => name === hnsNetwork(inventory));
  if (facts.sourceVip === 'absent' || facts.sourceVip.subnet !== network?.subnet) return undefined;
  return facts.sourceVip.address;
}

/**
 * Reserves an address of the node's pod subnet for kube-proxy, so that no pod gets it. Only overlay networks need one.
 */
export const sourceVip: Step<'windows'> = {
  name: 'source-vip',
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (!isService(target) || inventory.network.windows?.mode !== 'overlay' || reservedAddress(target) !== undefined)
      return [];
    const found = facts.sourceVip === 'absent' ? 'none' : `one of ${facts.sourceVip.subnet}`;
    return [
      {
        summary: `reserve an address for kube-proxy in ${hnsNetwork(inventory)} (found ${found})`,
        apply: runsOnWindows(
          host,
          powershell('windows/reserve-source-vip.ps1', {
            Name: hnsNetwork(inventory),
            Plugins: windowsPaths.cniBin,
            Path: windowsPaths.sourceVipFile,
          }),
        ),
      },
    ];
  },
};

/** The service of kube-proxy. */
export function kubeProxyServiceOf(target: Target<'windows'>): WantedWindowsService {
  const { inventory, host } = target;
  const vip = reservedAddress(target);
  const flags = [
    '--proxy-mode=kernelspace',
    `--kubeconfig=${windowsPaths.kubeletConf}`,
    `--hostname-override=${host.name}`,
    `--cluster-cidr=${inventory.network.podSubnet}`,
    `--network-name=${hnsNetwork(inventory)}`,
    '--enable-dsr=true',
    ...(vip === undefined ? [] : [`--source-vip=${vip}`]),
    '--v=2',
  ];
  return {
    name: 'kube-proxy',
    displayName: 'kube-proxy',
    path: NSSM,
    dependsOn: networkPlugin(inventory).windows?.services ?? [],
    environment: proxyEnvironment(inventory),
    parameters: nssmParameters(
      `${windowsPaths.programs}\\kube-proxy.exe`,
      flags,
      `${windowsPaths.kubeProxyLog}\\kube-proxy.log`,
    ),
    wanted: 'running',
    uses: [],
  };
}

/**
 * Runs kube-proxy as a service. kbuild always passes the node's name. Without it kube-proxy takes local endpoints for
 * remote ones and deletes them. When kube-proxy starts, it removes its own old rules.
 */
export const kubeProxyService: Step<'windows'> = where(isService, {
  name: 'kube-proxy-service',
  watches: { units: ['kube-proxy'] },
  settleMs: 60_000,
  diff: (target) => windowsServiceChanges(target, kubeProxyServiceOf(target)),
});
