import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** N hosts that are one sshd on N loopback addresses, in a network namespace of their own. */
export interface BenchFleet {
  readonly folder: string;
  readonly namespace: string;
  readonly identityFile: string;
  readonly knownHostsFile: string;
  /** Address of a host: 127.0.x.y, port 22. */
  address(index: number): string;
  stop(): void;
}

const SSHD = '/usr/sbin/sshd';

/** Needs root and openssh-server. Nothing outside the namespace can reach it. */
export function benchFleet(): BenchFleet {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-bench-'));
  const namespace = `kbuild-bench-${String(process.pid)}`;
  const file = (name: string) => join(folder, name);
  for (const name of ['host', 'login'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', file(name)]);
  writeFileSync(file('authorized_keys'), readFileSync(file('login.pub')), { mode: 0o600 });
  writeFileSync(file('known_hosts'), `127.0.* ${readFileSync(file('host.pub'), 'utf8')}`);
  // SHLVL: root's .bashrc is not read for commands then, which may cost more than all the rest.
  writeFileSync(
    file('config'),
    [
      ...[
        'Port 22',
        'ListenAddress 0.0.0.0',
        `HostKey ${file('host')}`,
        `AuthorizedKeysFile ${file('authorized_keys')}`,
      ],
      ...['StrictModes no', 'PasswordAuthentication no', 'UsePAM no', 'UseDNS no', 'PidFile none'],
      ...['MaxStartups 2000', 'SetEnv SHLVL=5', ''],
    ].join('\n'),
  );
  mkdirSync('/run/sshd', { recursive: true });
  execFileSync('ip', ['netns', 'add', namespace]);
  execFileSync('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
  const sshd: ChildProcess = spawn('ip', ['netns', 'exec', namespace, SSHD, '-D', '-f', file('config')], {
    stdio: 'ignore',
  });
  return {
    folder,
    namespace,
    identityFile: file('login'),
    knownHostsFile: file('known_hosts'),
    address: (index) => `127.0.${String(1 + Math.floor(index / 250))}.${String(1 + (index % 250))}`,
    stop() {
      sshd.kill();
      execFileSync('ip', ['netns', 'del', namespace]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
