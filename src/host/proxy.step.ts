import type { Step } from '../engine/step.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { fileChanges } from './file.step.ts';
import { changedDistribution, proxyFiles } from './packages/distributions.value.ts';
import { packageRoute } from './packages/repository.step.ts';
import { proxyDropIn } from './service.step.ts';

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
