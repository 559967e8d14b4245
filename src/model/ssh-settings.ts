import type { Secret } from '../shell/secret.ts';

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
  /** The SSH configuration leads through another machine (ProxyJump, ProxyCommand); only OpenSSH itself follows that. */
  readonly throughOthers?: true;
}
