import type { Step } from '../engine/step.ts';
import { files } from '../resources/file.ts';

/** The files that the inventory distributes to this host. */
export const distributedFiles: Step = files('files', ({ inventory, host }) =>
  inventory.files.filter(({ hosts }) => hosts.includes(host.name)),
);
