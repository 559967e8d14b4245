import type { Step } from '../../engine/step.ts';
import { windowsPaths } from '../../paths.ts';
import { runsOnWindows } from '../../resources/runs.ts';
import { powershell } from '../../templates.ts';
import { isService } from './services.ts';

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
