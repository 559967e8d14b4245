import { acting } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';
import { runs, when, whenApiAnswers } from './combinators.ts';
import { type AnyTarget, registeredNode } from './drain.ts';
import type { Change, Step, Target } from './step.ts';

type Apply = NonNullable<Change['apply']>;

/**
 * What a run writes on a host, or on its node, so that a run after it goes on where this one was cut off. Hosts may
 * have notes that an older kbuild wrote.
 */
export interface Note<T = AnyTarget> {
  /** True while the note stands. False also while that cannot be known, e.g. because the API does not answer. */
  readonly read: (target: T) => boolean;
  readonly write: (target: T, text: string) => Apply;
  readonly forget: (target: T) => Apply;
}

/** The control plane through which a run writes on a node, and its kubectl, in words. */
function writing({ inventory, fleet }: AnyTarget): { readonly control: LinuxHost; readonly words: readonly string[] } {
  const control = acting(fleet);
  return { control, words: kubectl(inventory, control) };
}

/** A note that is an annotation of the host's node. */
export function annotation(key: string): Note {
  const set = (target: AnyTarget, value: string | null): Apply => {
    const { control, words } = writing(target);
    const patch = JSON.stringify({ metadata: { annotations: { [key]: value } } });
    return runs(control, sh`${words} patch node ${target.host.name} --type merge -p ${patch}`);
  };
  return {
    read: (target) => key in (registeredNode(target)?.annotations ?? {}),
    write: set,
    forget: (target) => set(target, null),
  };
}

/** A note that is a taint of the host's node, without a text. */
export function taint(key: string, effect: 'PreferNoSchedule'): Note {
  const run = (target: AnyTarget, ...change: readonly string[]): Apply => {
    const { control, words } = writing(target);
    return runs(control, sh`${words} taint node ${target.host.name} ${change}`);
  };
  return {
    read: (target) => registeredNode(target)?.taints.some((one) => one.key === key) === true,
    write: (target) => run(target, `${key}=:${effect}`, '--overwrite'),
    forget: (target) => run(target, `${key}:${effect}-`),
  };
}

/** What a note is to say, and the plan of it; `before`: what comes first, and may fail. */
interface Writing {
  readonly summary: string;
  readonly text: string;
  readonly before?: Apply;
}

/** Writes a note that does not stand yet, where `about` says what. */
export const noteWritten = <K extends 'linux' | 'windows'>(
  name: string,
  note: Note<Target<K>>,
  about: (target: Target<K>) => Writing | undefined,
): Step<K> => ({
  name,
  diff: (target) => {
    const writing = note.read(target) ? undefined : about(target);
    if (writing === undefined) return [];
    const { summary, text, before } = writing;
    return [
      {
        summary,
        apply: async (on) => {
          await before?.(on);
          await note.write(target, text)(on);
        },
      },
    ];
  },
});

/** Removes a note that stands. `willStand`: where the same run writes it before, so that the plan shows this change. */
export const noteForgotten = <K extends 'linux' | 'windows'>(
  name: string,
  note: Note<Target<K>>,
  {
    summary,
    willStand,
  }: { readonly summary: (target: Target<K>) => string; readonly willStand: (target: Target<K>) => boolean },
): Step<K> => ({
  name,
  diff: (target) => {
    if (note.read(target)) return [{ summary: summary(target), apply: note.forget(target) }];
    return willStand(target) ? [{ summary: summary(target), foreseen: true }] : [];
  },
});

/** The annotation of the note below. */
export const RUNTIME_CHANGE = 'kbuild.dev/runtime-change';

/**
 * The note of a node whose runtime `up` changes while the node is drained. It tells such a drain from that of an
 * upgrade or a removal, so that an interrupted run goes on, and nothing else is undone.
 */
export const runtimeChangeNote: Note = annotation(RUNTIME_CHANGE);

/** True while the runtime of the host's node changes. */
export const isChanging: Note['read'] = runtimeChangeNote.read;

/**
 * A step that has its turn while `isDue`, which reads a note. While the API does not answer, the note of a joined
 * host is unknown: the step waits. Otherwise a look that a busy API leaves unanswered would pass for "nothing to do",
 * and the node would stay cordoned or take pods before it is well.
 */
export const whileNoted = <K extends 'linux' | 'windows'>(
  isDue: (target: Target<K>) => boolean,
  step: Step<K>,
): Step<K> =>
  when<K>((target) => {
    const isUnknown = target.fleet.cluster.state === 'down' && standing(target) === 'joined';
    return isUnknown || isDue(target);
  }, whenApiAnswers(step));
