import { type Path, problem, type Rule } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { installFromOf, timeSyncOfHost } from '../host-settings.ts';

const several = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

/**
 * Settings that the system's OpenSSH does not support: it runs without prompts, and checks a host key by the key
 * itself. Linux hosts only.
 */
export const opensshClient: Rule = ({ ssh, hosts }) =>
  [
    { path: ['ssh'], own: ssh, effective: ssh, os: 'linux' },
    ...hosts.map((host, i) => ({
      path: ['hosts', i, 'ssh'],
      own: host.ssh,
      effective: { ...ssh, ...host.ssh },
      os: host.os,
    })),
  ].flatMap(({ path, own, effective, os }) => {
    if (effective.client !== 'openssh') return [];
    return [
      ...(os === 'windows'
        ? [
            problem(
              [...path, 'client'],
              'Windows hosts are reached by the built-in client only; set client: built-in here',
            ),
          ]
        : []),
      ...(own.passphrase === undefined
        ? []
        : [problem([...path, 'passphrase'], 'has no use with ssh.client openssh; add the key to an agent (ssh-add)')]),
      ...(several(own.hostKey).some((key) => key.startsWith('SHA256:'))
        ? [problem([...path, 'hostKey'], 'must be the whole key with ssh.client openssh, not its fingerprint')]
        : []),
    ];
  });

type Setting = InventoryFile['timeSync'];

/** Every place of the setting. */
const places = ({ timeSync, roles, groups, hosts }: InventoryFile): readonly (readonly [Path, Setting])[] => [
  [[], timeSync],
  ...Object.entries(roles).map(([role, level]) => [['roles', role], level.timeSync] as const),
  ...Object.entries(groups).map(([group, level]) => [['groups', group], level.timeSync] as const),
  ...hosts.map((host, i) => [['hosts', i], host.timeSync] as const),
];

/** Time servers are written for chrony only. */
const serversOfChrony: Rule = (file) =>
  places(file).flatMap(([path, setting]) =>
    typeof setting === 'object' && setting.kind === 'unmanaged' && setting.servers.length > 0
      ? [
          problem(
            [...path, 'timeSync', 'servers'],
            'needs kind: chrony; kbuild writes nothing for another time service: remove servers',
          ),
        ]
      : [],
  );

/** kbuild installs chrony as a package, and only on hosts to which programs come as packages. */
const chronyOfPackages: Rule = (file) =>
  file.hosts.flatMap((host, i) => {
    if (host.os === 'windows')
      return host.timeSync === undefined
        ? []
        : [problem(['hosts', i, 'timeSync'], 'is of Linux hosts; Windows has its own time service: remove it')];
    return timeSyncOfHost(file, host) !== undefined && installFromOf(file, host) === 'binaries'
      ? [
          problem(
            ['hosts', i],
            `timeSync: chrony is installed as a package, and "${host.name}" has installFrom: binaries; give it ` +
              'timeSync: unmanaged, and run its own time service, e.g. systemctl enable --now systemd-timesyncd',
          ),
        ]
      : [];
  });

/** `timeSync` fits the hosts that it reaches. */
export const timeSyncOfHosts: Rule = (file) => [...serversOfChrony(file), ...chronyOfPackages(file)];
