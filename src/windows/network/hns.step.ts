import { runsOnWindows } from '../../engine/combinators.ts';
import type { Step, Unobserved } from '../../engine/step.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { networkPlugin } from '../../network/plugins.value.ts';
import { windowsPaths } from '../../paths.ts';
import { powershell } from '../../templates.ts';

/**
 * Name of the HNS network that the network plugin creates on Windows hosts; empty if kbuild installs no network on
 * them.
 */
export const hnsNetwork = (inventory: Inventory): string =>
  networkPlugin(inventory).windows?.hnsNetwork(inventory.network) ?? '';

/** True if the network plugin and kube-proxy run as services on Windows hosts, not as pods. */
export const isService = ({ inventory }: Unobserved<'windows'>): boolean =>
  inventory.network.windows?.services === true;

const Note = windowsPaths.metadataRoute;

/**
 * Adds the route to 169.254.169.254, the metadata service of clouds. HNS removes the route when it creates its virtual
 * switch. If the network plugin is a pod, the pod adds the route.
 */
export const metadataRoute: Step<'windows'> = {
  name: 'metadata-route',
  diff: (target) =>
    !isService(target) || target.facts.network.metadataRoute
      ? []
      : [
          {
            summary: 'add a route to 169.254.169.254, where clouds answer (found none)',
            apply: runsOnWindows(target.host, powershell('windows/add-metadata-route.ps1', { Note })),
          },
        ],
};

/** Removes the route that kbuild added. Keeps a route that existed before. */
export const noMetadataRoute: Step<'windows'> = {
  name: 'no-metadata-route',
  watches: { files: [Note] },
  diff: ({ host, facts }) =>
    facts.files.at(Note) === undefined
      ? []
      : [
          {
            summary: `remove the route to 169.254.169.254 (found ${Note})`,
            apply: runsOnWindows(host, powershell('windows/remove-metadata-route.ps1', { Note })),
          },
        ],
};
