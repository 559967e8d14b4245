import type { Secret } from '../shell/secret.ts';

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

/** How changes go from worker to worker. A control plane always changes alone. */
export interface Rollout {
  /**
   * How many workers may be away at once: a number, or a share of them in percent, rounded down. At least one always
   * is.
   */
  readonly maxUnavailable: { readonly workers: number } | { readonly percent: number };
  /** How long the drain of a node may take, in ms. */
  readonly drainTimeoutMs: number;
  /** How long a run waits after a batch of workers before it changes the next one, in ms; 0: not at all. */
  readonly pauseMs: number;
}

/** How to log in to one machine. */
export interface Login {
  readonly user: string;
  readonly port: number;
  /** Absolute paths of keys, tried in this order and no others; none means the agent's, at $SSH_AUTH_SOCK. */
  readonly identityFiles?: readonly string[];
  /** Of encrypted keys. Without it, kbuild asks the operator. */
  readonly passphrase?: Secret;
  /** Absolute paths of known_hosts files, read in order; new keys are recorded in the first. */
  readonly knownHostsFiles: readonly string[];
  /** Name to look for in these files instead of address and port. */
  readonly hostKeyAlias?: string;
  /** The only keys that the machine may show: `ssh-ed25519 AAAA…` or `SHA256:…`. Then known_hosts is not read. */
  readonly hostKeys?: readonly string[];
}

/** A machine that connections go through. */
export interface Bastion extends Login {
  readonly address: string;
}

/** A setting that ~/.ssh/config may give if the inventory does not. */
export type OpenSetting = 'user' | 'port' | 'identityFiles' | 'knownHostsFiles' | 'bastions';

/** How to log in to a host; resolved per host from `ssh:` of the inventory and of the host. */
export interface SshSettings extends Login {
  /** In the order of dialling; the first is reached directly. */
  readonly bastions?: readonly Bastion[];
  /** For users whose sudo needs one. Without it, kbuild asks the operator. */
  readonly sudoPassword?: Secret;
  /** What the inventory leaves to the SSH configuration. */
  readonly open?: readonly OpenSetting[];
  /** Absolute path of the SSH configuration, or `none`; default: the user's. */
  readonly configFile?: string;
  /** The system's OpenSSH connects, instead of the built-in client. */
  readonly client?: 'openssh';
  /**
   * The SSH configuration leads through another machine (ProxyJump, ProxyCommand); only OpenSSH itself follows that.
   */
  readonly throughOthers?: true;
}

/** What keeps the clock of a host right, where kbuild sees to it. */
export interface TimeSync {
  readonly kind: 'chrony';
  /** Names and addresses of time servers, besides those that the host's own configuration names. */
  readonly servers: readonly string[];
}
