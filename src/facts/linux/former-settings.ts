import { sharedFiles, type SharedFiles } from '../../components/runtimes/shared-settings.ts';
import type { Inventory, RuntimeName } from '../../model/inventory.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import { unexpected, type Probe } from '../../shell/probe.ts';
import { quote } from '../../shell/sh.ts';
import { ofOtherRuntimes } from './of-other-runtimes.ts';

/** Settings that a runtime shares with its administrator, where kbuild's are still among them. */
export interface FormerSettings extends SharedFiles {
  /** The permissions of the file; undefined if it is gone. */
  readonly mode: number | undefined;
}

/** The settings of each runtime that the inventory does not name for the host, where kbuild's record of them is there. */
export const formerSettings = onceForEach((inventory: Inventory): Probe<ReadonlyMap<RuntimeName, FormerSettings>> =>
  ofOtherRuntimes(
    inventory,
    'settings of former runtimes',
    ({ shared }) => ({
      where: shared === undefined ? 'false' : `[ -e ${quote(shared.record)} ]`,
      ask:
        shared === undefined
          ? ':'
          : `stat -c %a ${quote(shared.path)} 2>/dev/null || echo gone\n${sharedFiles(shared).command.script}`,
    }),
    (answer, { shared }, asked) => {
      const [, mode = '', rest = ''] = /^(gone|[0-7]{1,4})\n([\s\S]*)$/.exec(answer) ?? [];
      if (mode === '') throw unexpected(answer);
      const found = sharedFiles(shared).parse(rest, asked);
      return { ...found, mode: mode === 'gone' ? undefined : Number.parseInt(mode, 8) };
    },
  ),
);
