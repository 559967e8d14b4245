import type { Step, Target } from '../../engine/step.ts';
import { Refused } from '../../errors.ts';
import type { WindowsHost } from '../../inventory/inventory.ts';
import {
  flannelNetConf,
  flannelWindowsPaths,
  flannelWindowsPaths as flannelPaths,
  usesFlannel,
} from '../../network/flannel.value.ts';
import type { InventoryWith } from '../../network/plugin.value.ts';
import { windowsPaths } from '../../paths.ts';
import { flagIn, type JsonObject, objectOf } from '../../shell/decode.ts';
import type { On } from '../../ssh/remote.ts';
import { powershell } from '../../templates.ts';
import { proxyEnvironment } from '../environment.step.ts';
import { windowsFileChanges } from '../file.step.ts';
import { NSSM, nssmParameters, windowsServiceChanges } from '../service.step.ts';
import { hnsNetwork, isService } from './hns.step.ts';

/**
 * What outbound NAT leaves as it is. Overlay: pods and Services only, because hosts have no way back to a pod's address
 * (Microsoft's flannel_overlay.conf, flannel-overlay.yml of sig-windows-tools). host-gw: also the hosts themselves,
 * which do (kubernetes #86482); other machines of their subnet do not.
 */
const exceptions = ({ network, hosts }: InventoryWith<'flannel'>): readonly string[] => [
  network.podSubnet,
  network.serviceSubnet,
  ...(network.flannel.backend === 'vxlan' ? [] : hosts.map(({ internalAddress }) => `${internalAddress}/32`)),
];

/**
 * flannel's CNI configuration of a Windows host. Outbound NAT gives packets the address of the host, but for
 * exceptions.
 */
export function windowsCniConfig(
  inventory: InventoryWith<'flannel'>,
  { internalAddress: address }: Pick<WindowsHost, 'internalAddress'>,
): JsonObject {
  const { serviceSubnet, flannel } = inventory.network;
  const outboundNat = { Type: 'OutBoundNAT', Settings: { Exceptions: exceptions(inventory) } };
  const route = (type: string, DestinationPrefix: string): JsonObject => ({
    Type: type,
    Settings: { DestinationPrefix, NeedEncap: true },
  });
  const common = {
    name: hnsNetwork(inventory),
    cniVersion: '0.3.0',
    type: 'flannel',
    capabilities: { portMappings: true, dns: true },
  };
  if (flannel.backend === 'vxlan') {
    const provider = { Type: 'ProviderAddress', Settings: { ProviderAddress: address } };
    const AdditionalArgs = [outboundNat, route('SDNROUTE', serviceSubnet), provider].map((Value) => ({
      Name: 'EndpointPolicy',
      Value,
    }));
    return { ...common, delegate: { type: 'sdnoverlay', AdditionalArgs } };
  }
  const policies = [outboundNat, route('SDNRoute', serviceSubnet), route('SDNRoute', `${address}/32`)].map((value) => ({
    name: 'EndpointPolicy',
    value,
  }));
  return { ...common, delegate: { type: 'win-bridge', apiVersion: 2, loopbackDSR: true, policies } };
}

/** Writes flannel's CNI configuration, if an adapter of the host has its address. */
export const windowsCniFile: Step<'windows'> = {
  name: 'cni-config',
  watches: { files: [flannelWindowsPaths.cniConfig] },
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (!usesFlannel(inventory) || inventory.network.windows === undefined) return [];
    const path = flannelWindowsPaths.cniConfig;
    if (!facts.network.addresses.some(({ address }) => address === host.internalAddress)) {
      const why = `no adapter has ${host.internalAddress}`;
      const remedy = 'set internalAddress to an address of the host (`Get-NetIPAddress`)';
      return [
        {
          summary: `write ${path} (${why})`,
          apply: () => Promise.reject(new Refused('no-interface-address', host.name, why, remedy)),
        },
      ];
    }
    const content = `${JSON.stringify(windowsCniConfig(inventory, host), undefined, 2)}\n`;
    return windowsFileChanges(target, { path, content });
  },
};

/** Writes flannel's configuration to a file for the service. Pods read it from a ConfigMap. */
export const flannelConfig: Step<'windows'> = {
  name: 'flannel-config',
  watches: (about) => (isService(about) ? { files: [flannelPaths.netConf] } : {}),
  diff: (target) =>
    isService(target) && usesFlannel(target.inventory)
      ? windowsFileChanges(target, { path: flannelPaths.netConf, content: flannelNetConf(target.inventory, 'windows') })
      : [],
};

/** Runs flanneld as a service. It uses the kubelet's kubeconfig and acts as its node. */
export const flanneldService: Step<'windows'> = {
  name: 'flanneld-service',
  watches: (about) => (isService(about) ? { units: ['flanneld'], files: [flannelPaths.netConf] } : {}),
  settleMs: 60_000,
  diff: (target) => {
    if (!isService(target)) return [];
    const { inventory, host } = target;
    const flags = [
      '--kube-subnet-mgr',
      `--kubeconfig-file=${windowsPaths.kubeletConf}`,
      `--net-config-path=${flannelPaths.netConf}`,
      `--iface=${host.internalAddress}`,
    ];
    return windowsServiceChanges(target, {
      name: 'flanneld',
      displayName: 'flanneld',
      path: NSSM,
      dependsOn: [],
      environment: [...proxyEnvironment(inventory), `NODE_NAME=${host.name}`],
      parameters: nssmParameters(`${windowsPaths.programs}\\flanneld.exe`, flags, `${flannelPaths.log}\\flanneld.log`),
      wanted: 'running',
      uses: [flannelPaths.netConf],
    });
  },
};

/**
 * Time limit for flanneld to create its network, in seconds. It would wait forever, so kbuild then restarts it once.
 */
const NETWORK_SECONDS = 180;

async function awaitNetwork({ inventory, host }: Target<'windows'>, on: On): Promise<void> {
  const Name = hnsNetwork(inventory);
  const hasNetwork = async (): Promise<boolean> => {
    const result = await on(host).job('flannel-network', {
      ...powershell('windows/wait-hns-network.ps1', {
        Name,
        Path: flannelPaths.subnetEnv,
        Seconds: NETWORK_SECONDS,
      }),
      title: `wait for the network ${Name}`,
    });
    return flagIn(objectOf(JSON.parse(result))['found']);
  };
  if (await hasNetwork()) return;
  await on(host).run(powershell('windows/set-service-state.ps1', { Name: 'flanneld', Action: 'restart' }));
  await hasNetwork();
}

/** Waits until flanneld has created its HNS network. Meanwhile the host's connection drops for seconds. */
export const flannelNetwork: Step<'windows'> = {
  name: 'flannel-network',
  watches: (about) => (isService(about) ? { files: [flannelPaths.subnetEnv] } : {}),
  settleMs: 10_000,
  diff: (target) => {
    if (!isService(target)) return [];
    const { inventory, facts } = target;
    const desired = hnsNetwork(inventory);
    const missing = [
      ...(facts.hns.networks.some(({ name }) => name === desired) ? [] : [`HNS network ${desired}`]),
      ...(facts.files.at(flannelPaths.subnetEnv) === undefined ? [flannelPaths.subnetEnv] : []),
    ];
    if (missing.length === 0) return [];
    return [
      {
        summary:
          'wait for flanneld to connect pods, and start it again if it has to be (found no ' +
          `${missing.join(', no ')}; its log is in ${flannelPaths.log})`,
        apply: (on) => awaitNetwork(target, on),
      },
    ];
  },
};
