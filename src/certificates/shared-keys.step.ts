import type { Step } from '../engine/step.ts';
import { readPki } from './shared-files.ts';
import { lostKeys, PKI_FOLDER, sharedKeyFiles } from './shared-keys.ts';

/**
 * Copies a key that all control planes share to one that has lost it: its next renewal, or a join through it, would
 * fail.
 */
export const sharedKeysBack: Step = {
  name: 'shared-keys',
  watches: ({ inventory, host }) => ({ files: sharedKeyFiles(inventory, host) }),
  diff: ({ inventory, host, facts, fleet }) =>
    lostKeys(inventory, fleet, { host, facts }).flatMap(({ key, from }) =>
      from === undefined
        ? []
        : [
            {
              summary: `copy ${PKI_FOLDER}/${key} from ${from.name} (found none)`,
              apply: async (on) => {
                const content = (await readPki(on(from), [key])).get(key);
                if (content === undefined) throw new Error(`${from.name} did not give ${PKI_FOLDER}/${key}`);
                await on(host).write(`${PKI_FOLDER}/${key}`, content, 0o600);
              },
            },
          ],
    ),
};
