import type { Login, SshSettings } from '../inventory/host-settings.ts';
import type { Host } from '../inventory/inventory.ts';
import type { HostKeyPolicy } from './host-key-guard.ts';

/** How the configuration of one connection is made. */
interface ConfigOptions {
  readonly policy: HostKeyPolicy;
  /** The user's home folder. */
  readonly home: string;
  readonly connectTimeoutMs: number;
  /**
   * True if this ssh has the option KnownHostsCommand (OpenSSH 8.5). Another would reject the configuration for its
   * name.
   */
  readonly hasKnownHostsCommand: boolean;
  /** Writes a file beside the configuration; returns its path. */
  readonly put: (name: string, text: string) => string;
}

/** How the files with the keys that the inventory pins begin. */
export const PINS = 'pins-';

/** A path as ssh_config(5) reads it: quoted, its percent signs no tokens. */
const quoted = (path: string): string => `"${path.replaceAll('%', '%%')}"`;

/** A name as ssh_config(5) reads it. @throws TypeError on what would begin another word or line */
function word(text: string): string {
  if (text === '' || /[\s"\u0000-\u001f]/.test(text)) throw new TypeError(`no word of an SSH configuration: ${text}`);
  return text;
}

/**
 * Where the inventory says which host keys are known, nothing else makes one known: neither a command of the user's
 * configuration, nor DNS, nor the address of the host, nor that it is this machine.
 */
const onlyThese = (hasKnownHostsCommand: boolean): readonly string[] => [
  'GlobalKnownHostsFile none',
  ...(hasKnownHostsCommand ? ['KnownHostsCommand none'] : []),
  'VerifyHostKeyDNS no',
  'CheckHostIP no',
  'NoHostAuthenticationForLocalhost no',
];

/** The inventory's settings of a login. The user's configuration decides about those that the inventory leaves open. */
function login(
  name: string,
  ssh: Login & Pick<SshSettings, 'open'>,
  { put, hasKnownHostsCommand }: Pick<ConfigOptions, 'put' | 'hasKnownHostsCommand'>,
): readonly string[] {
  const open = new Set(ssh.open);
  const { user, port, identityFiles, knownHostsFiles, hostKeys } = ssh;
  const pins = hostKeys?.map((key) => `kbuild-pinned ${key}\n`).join('');
  return [
    ...(open.has('user') ? [] : [`User ${word(user)}`]),
    ...(open.has('port') ? [] : [`Port ${String(port)}`]),
    ...(identityFiles === undefined
      ? []
      : ['IdentitiesOnly yes', ...identityFiles.map((file) => `IdentityFile ${quoted(file)}`)]),
    ...(pins === undefined
      ? open.has('knownHostsFiles')
        ? []
        : [`UserKnownHostsFile ${knownHostsFiles.map(quoted).join(' ')}`, ...onlyThese(hasKnownHostsCommand)]
      : [
          'HostKeyAlias kbuild-pinned',
          `UserKnownHostsFile ${quoted(put(`${PINS}${name}`, pins))}`,
          ...onlyThese(hasKnownHostsCommand),
          'StrictHostKeyChecking yes',
        ]),
  ];
}

/**
 * The configuration of one host's connection for OpenSSH. The first value wins: settings of kbuild and the inventory,
 * then the user's own files, then kbuild's default user.
 */
export function configFile(
  { name, address, ssh }: Host,
  { policy, home, connectTimeoutMs, ...ways }: ConfigOptions,
): string {
  const bastions = ssh.bastions ?? [];
  const jumps = bastions.map((hop) => {
    const at = word(hop.address);
    return `${word(hop.user)}@${at.includes(':') ? `[${at}]` : at}:${String(hop.port)}`;
  });
  const files =
    ssh.configFile === undefined
      ? [`${home}/.ssh/config`, '/etc/ssh/ssh_config']
      : ssh.configFile === 'none'
        ? []
        : [ssh.configFile];
  return [
    'BatchMode yes',
    'ForwardAgent no',
    'ForwardX11 no',
    'ClearAllForwardings yes',
    'ControlPersist no',
    'UpdateHostKeys no',
    'RequestTTY no',
    'ConnectionAttempts 1',
    `ConnectTimeout ${String(Math.ceil(connectTimeoutMs / 1000))}`,
    'ServerAliveInterval 15',
    'ServerAliveCountMax 3',
    ...bastions.flatMap((hop, i) => [`Host ${word(hop.address)}`, ...login(`${name}-${String(i)}`, hop, ways)]),
    `Host ${word(address)}`,
    ...login(name, ssh, ways),
    ...(ssh.bastions === undefined ? [] : [`ProxyJump ${jumps.length === 0 ? 'none' : jumps.join(',')}`]),
    'Match all',
    `StrictHostKeyChecking ${policy === 'strict' ? 'yes' : 'accept-new'}`,
    ...files.map((file) => `Include ${quoted(file)}`),
    'Match all',
    'User root',
    '',
  ].join('\n');
}
