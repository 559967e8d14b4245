import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { windowsNetwork } from '../windows/network/index.ts';
import { WINDOWS_KUBE_PROXY_LABEL } from '../windows/network/kube-proxy.ts';
import { waitForApi } from '../resources/wait-for-api.ts';

const MINUTES = 60_000;

/**
 * Brings the pods of kube-proxy on Windows hosts to the image of the inventory, and waits until each host has one that is ready. The
 * DaemonSet replaces them by itself, a tenth at a time.
 */
export const windowsKubeProxyPods: Step<'cluster'> = {
  name: 'windows-kube-proxy',
  settleMs: 30 * MINUTES,
  diff: (target) => {
    const { inventory, facts } = target;
    const { windows } = inventory.network;
    if (windows === undefined || windows.services) return [];
    if (facts.state !== 'up') return facts.state === 'down' ? [waitForApi(facts)] : [];
    const { name, value } = WINDOWS_KUBE_PROXY_LABEL;
    const pods = facts.pods.filter(({ labels }) => labels[name] === value);
    const others = pods.filter(({ images }) => images[0] !== windows.kubeProxyImage);
    if (others.length === 0) return [];
    const hosts = others.map(({ node }) => node);
    const [change] = windowsNetwork.diff(target);
    if (change === undefined)
      return [{ summary: `wait until kube-proxy of ${hosts.join(', ')} runs ${windows.kubeProxyImage}` }];
    return [
      {
        ...change,
        summary: `bring kube-proxy of Windows hosts to ${windows.kubeProxyImage} (found ${[...new Set(others.map(({ images }) => images[0] ?? 'none'))].join(', ')})`,
        restarts: [{ what: 'kube-proxy', hosts, aboutMs: ABOUT_MS.pod, atOnce: 1 }],
      },
    ];
  },
};
