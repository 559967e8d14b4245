import { changedDistribution, proxyFiles } from '../components/distributions/index.ts';
import type { Step } from '../engine/step.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { fileChanges } from '../resources/file.ts';
import { packageRoute } from '../resources/package-repository.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';

/** Configures the package manager's proxy. Removes its file if the inventory has no proxy. */
export const packagesProxy: Step = {
  name: 'apt-proxy',
  watches: { files: proxyFiles },
  diff: (target) => {
    const { inventory, facts } = target;
    const proxyFile = changedDistribution(facts)?.packages?.proxyFile;
    if (proxyFile === undefined) return [];
    const content = proxyFile.content(packageRoute(inventory));
    return fileChanges(target, {
      path: proxyFile.path,
      content: content === undefined ? undefined : `${OWN_HEADER}.\n${content}`,
    });
  },
};

/** Configures the kubelet's proxy. */
export const kubeletProxy: Step = proxyDropIn('kubelet-proxy', paths.kubeletProxy);
