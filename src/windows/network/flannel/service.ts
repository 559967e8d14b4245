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

/** flannel's configuration, which pods find in a ConfigMap. */
export const flannelConfig: Step<'windows'> = {
  name: 'flannel-config',
  watches: (about) => (isService(about) ? { files: [flannelPaths.netConf] } : {}),
  diff: (target) =>
    isService(target) && usesFlannel(target.inventory)
      ? windowsFileChanges(target, { path: flannelPaths.netConf, content: flannelNetConf(target.inventory) })
      : [],
};

/** flanneld runs as a service; it acts as the node that it is on. */
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

/** Seconds that flanneld may take to get its network before it is started again: it waits for ever otherwise. */
const NETWORK_SECONDS = 180;

async function awaitNetwork({ inventory, host }: Target<'windows'>, on: On): Promise<void> {
  const Name = hnsNetwork(inventory);
  const came = async (): Promise<boolean> => {
    const said = await on(host).job('flannel-network', {
      ...powershell('windows/wait-hns-network.ps1', {
        Name,
        Path: flannelPaths.subnetEnv,
        Seconds: NETWORK_SECONDS,
      }),
      title: `wait for the network ${Name}`,
    });
    return (JSON.parse(said) as { readonly found: boolean }).found;
  };
  if (await came()) return;
  await on(host).run(powershell('windows/set-service-state.ps1', { Name: 'flanneld', Action: 'restart' }));
  await came();
}

/** flanneld has its network, after a second start if it must: making it drops the host's connection for seconds. */
export const flannelNetwork: Step<'windows'> = {
  name: 'flannel-network',
  watches: (about) => (isService(about) ? { files: [flannelPaths.subnetEnv] } : {}),
  settleMs: 10_000,
  diff: (target) => {
    if (!isService(target)) return [];
    const { inventory, facts } = target;
    const wanted = hnsNetwork(inventory);
    const missing = [
      ...(facts.hns.networks.some(({ name }) => name === wanted) ? [] : [`HNS network ${wanted}`]),
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
