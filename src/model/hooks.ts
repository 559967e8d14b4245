/** When the commands of users run. */
export type HookName = 'beforeChange' | 'beforeDrain' | 'afterUncordon' | 'afterRun';

/** One command of the user's. */
export interface Hook {
  /** What /bin/sh runs. */
  readonly command: string;
  /** `operator`: on the machine on which kbuild runs. `host`: on the host that the hook is about, as root. */
  readonly on: 'operator' | 'host';
  /** Names of the hosts for which it runs; of `afterRun` none. */
  readonly hosts: readonly string[];
  readonly timeoutMs: number;
}

/** Variables of a command's environment. */
export type Variables = Readonly<Record<string, string>>;

/** Runs a command on the operator's machine. Rejects with the reason and the last lines of its stderr. */
export type RunHere = (command: string, variables: Variables, timeoutMs: number) => Promise<void>;

/** The hooks of an inventory. */
export interface Hooks {
  readonly of: Readonly<Record<HookName, readonly Hook[]>>;
  readonly runHere: RunHere;
  /** The command that runs, as the operator types it, e.g. `etcd snapshot save`. */
  readonly action: string;
}

/** No hooks. */
export const NO_HOOKS: Hooks = {
  of: { beforeChange: [], beforeDrain: [], afterUncordon: [], afterRun: [] },
  runHere: () => Promise.resolve(),
  action: '',
};
