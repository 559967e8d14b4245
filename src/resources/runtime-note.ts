import { acting } from '../cluster/acting.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { registeredNode, type AnyTarget } from './drain.ts';

/**
 * Annotation of a node whose runtime `up` changes while the node is drained. It tells such a drain from that of an upgrade or a
 * removal, so that an interrupted run goes on, and nothing else is undone.
 */
export const CHANGING = 'kbuild.dev/runtime-change';

/** True while the host's node has the note. */
export const isChanging = (target: AnyTarget): boolean => CHANGING in (registeredNode(target)?.annotations ?? {});

/** Sets the note on the host's node, or removes it. */
export const noted =
  ({ inventory, host, fleet }: AnyTarget, value: string | null) =>
  async (on: On): Promise<void> => {
    const control = acting(fleet);
    const patch = JSON.stringify({ metadata: { annotations: { [CHANGING]: value } } });
    await on(control).run(sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${patch}`);
  };
