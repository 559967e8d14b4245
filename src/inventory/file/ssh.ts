import type { Secret } from '../../shell/secret.ts';
import type { Bastion, Login, OpenSetting, SshSettings } from '../host-settings.ts';
import type { HostEntry } from '../schema/schema.ts';

/** Makes a path of the inventory absolute. */
export type Locate = (path: string) => string;

/** The secrets that the references in a host's `ssh:` resolve to. */
export interface SshSecrets {
  readonly passphrase?: Secret;
  readonly sudoPassword?: Secret;
}

type SshEntry = HostEntry['ssh'];
type BastionEntry = Exclude<NonNullable<SshEntry['bastion']>, readonly unknown[]>;

const DEFAULT_KNOWN_HOSTS = ['~/.ssh/known_hosts', '/etc/ssh/ssh_known_hosts'];

const several = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

function loginOf(entry: SshEntry, locate: Locate, preset = 'root'): Login {
  const { user, port, identityFile, knownHostsFile, hostKey } = entry;
  return {
    user: user ?? preset,
    port: port ?? 22,
    ...(identityFile === undefined ? {} : { identityFiles: several(identityFile).map(locate) }),
    knownHostsFiles: (knownHostsFile === undefined ? DEFAULT_KNOWN_HOSTS : [knownHostsFile]).map(locate),
    ...(hostKey === undefined ? {} : { hostKeys: several(hostKey) }),
  };
}

/** `[user@]host[:port]` as OpenSSH's ProxyJump has it. */
export function parseJump(text: string): { readonly user?: string; readonly address: string; readonly port?: number } {
  const [, user, name, port] = /^(?:([^@]+)@)?(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? [];
  return {
    ...(user === undefined ? {} : { user }),
    address: (name ?? text).replace(/^\[|\]$/g, ''),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

/** A bastion logs in as hosts do, with a port and a host key of its own. */
function bastionOf(entry: BastionEntry, ssh: SshEntry, secrets: SshSecrets, locate: Locate): Bastion {
  const own = typeof entry === 'string' ? parseJump(entry) : entry;
  const { user, identityFile, knownHostsFile } = ssh;
  const shared = Object.fromEntries(
    Object.entries({ user, identityFile, knownHostsFile }).filter(([, value]) => value !== undefined),
  );
  return {
    address: own.address,
    ...loginOf({ ...shared, ...own }, locate),
    ...(secrets.passphrase === undefined ? {} : { passphrase: secrets.passphrase }),
  };
}

/**
 * The login of a host: its own settings, then the inventory's, then defaults; a setting without any of them is `open`.
 * `user`: the default user.
 */
export function sshOf(
  ofAll: SshEntry,
  ofHost: SshEntry,
  secrets: SshSecrets,
  locate: Locate,
  user = 'root',
): SshSettings {
  const ssh = { ...ofAll, ...ofHost };
  const said: Readonly<Record<OpenSetting, unknown>> = {
    user: ssh.user,
    port: ssh.port,
    identityFiles: ssh.identityFile,
    knownHostsFiles: ssh.knownHostsFile,
    bastions: ssh.bastion,
  };
  const open = (Object.keys(said) as OpenSetting[]).filter((name) => said[name] === undefined);
  return {
    ...loginOf(ssh, locate, user),
    ...secrets,
    ...(ssh.bastion === undefined || (Array.isArray(ssh.bastion) && ssh.bastion.length === 0)
      ? {}
      : { bastions: several(ssh.bastion).map((entry) => bastionOf(entry, ssh, secrets, locate)) }),
    ...(open.length === 0 ? {} : { open }),
    ...(ssh.client === 'openssh' ? { client: ssh.client } : {}),
    ...(ssh.configFile === undefined
      ? {}
      : { configFile: ssh.configFile === 'none' ? 'none' : locate(ssh.configFile) }),
  };
}
