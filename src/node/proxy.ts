import { changedDistribution, proxyFiles } from '../components/distributions/index.ts';
import type { Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { fileChanges, OURS } from '../resources/file.ts';
import { packageRoute } from '../resources/package-repository.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';

/** The package manager uses the proxy; removed when the inventory no longer has one. */
export const packagesProxy: Step = {
  name: 'apt-proxy',
  watches: { files: proxyFiles },
  diff: (target) => {
    const { inventory, facts } = target;
    const proxyFile = changedDistribution(facts)?.packages.proxyFile;
    if (proxyFile === undefined) return [];
    const content = proxyFile.content(packageRoute(inventory));
    return fileChanges(target, {
      path: proxyFile.path,
      content: content === undefined ? undefined : `${OURS}.\n${content}`,
    });
  },
};

/** The kubelet uses the proxy. */
export const kubeletProxy: Step = proxyDropIn('kubelet-proxy', paths.kubeletProxy);
