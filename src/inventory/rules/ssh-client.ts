import { problem, type Rule } from './rule.ts';

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
