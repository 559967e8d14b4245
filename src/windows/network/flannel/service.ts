import {
  flannelNetConf,
  flannelWindowsPaths as flannelPaths,
  usesFlannel,
} from '../../../components/network-plugins/flannel.ts';
import type { Step, Target } from '../../../engine/step.ts';
import { windowsPaths } from '../../../paths.ts';
import type { On } from '../../../remote/remote.ts';
import { windowsFileChanges } from '../../../resources/windows-file.ts';
import { windowsServiceChanges } from '../../../resources/windows-service.ts';
import { powershell } from '../../../templates.ts';
import { proxyEnvironment } from '../../environment.ts';
import { NSSM, nssmParameters } from '../../nssm.ts';
import { hnsNetwork } from '../hns-network.ts';
import { isService } from '../services.ts';

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

/** Time limit for flanneld to create its network, in seconds. It would wait forever, so kbuild then restarts it once. */
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
    return (JSON.parse(result) as { readonly found: boolean }).found;
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
        summary: `wait for flanneld to connect pods, and start it again if it has to be (found no ${missing.join(', no ')}; its log is in ${flannelPaths.log})`,
        apply: (on) => awaitNetwork(target, on),
      },
    ];
  },
};
