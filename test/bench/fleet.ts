import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initOf } from '../lab/host-processes.ts';
import { down, inside, up } from '../lab/lab.ts';

/** N hosts that are one sshd on N loopback addresses of a real system, in that system's own network namespace. */
export interface BenchFleet {
  readonly folder: string;
  /** Runs a program of this machine in the fleet's network: what to put before it. */
  readonly enter: readonly string[];
  readonly identityFile: string;
  readonly knownHostsFile: string;
  /** Where every host's sshd listens. */
  readonly port: number;
  /** Address of a host: 127.0.x.y. */
  address(index: number): string;
  stop(): Promise<void>;
}

/** The lab host that is the fleet. */
export const SYSTEM = 'benchw1';
const PORT = 2222;

/** Boots a lab host and starts a second sshd in it. Needs what the lab needs. Nothing outside the namespace can reach it. */
export async function benchFleet(): Promise<BenchFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-bench-'));
  const file = (name: string) => join(folder, name);
  for (const name of ['host', 'login'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'bench', '-f', file(name)]);
  writeFileSync(file('known_hosts'), `[127.0.*]:* ${readFileSync(file('host.pub'), 'utf8')}`);
  // SHLVL: root's .bashrc is not read for commands then, which may cost more than all the rest.
  const config = [
    ...[`Port ${String(PORT)}`, 'ListenAddress 0.0.0.0', 'HostKey /run/bench/host', 'UsePAM no', 'UseDNS no'],
    ...['AuthorizedKeysFile /run/bench/authorized_keys', 'StrictModes no', 'PasswordAuthentication no'],
    ...['PidFile none', 'MaxStartups 2000', 'SetEnv SHLVL=5', 'LogLevel ERROR', ''],
  ].join('\n');
  await up([SYSTEM]);
  const put = (name: string, content: string) =>
    inside(SYSTEM, `mkdir -p /run/bench; umask 077; cat > /run/bench/${name}`, content);
  await put('host', readFileSync(file('host'), 'utf8'));
  await put('authorized_keys', readFileSync(file('login.pub'), 'utf8'));
  await put('config', config);
  const started = await inside(
    SYSTEM,
    'grep -q k8s.bench /etc/hosts || echo 127.0.0.1 k8s.bench >>/etc/hosts; systemctl stop bench-sshd 2>/dev/null; systemd-run -q --unit bench-sshd -p TasksMax=infinity /usr/sbin/sshd -D -f /run/bench/config && for i in $(seq 100); do ssh-keyscan -p 2222 127.0.1.1 2>/dev/null | grep -q . && exit; sleep 0.1; done; exit 1',
  );
  if (started.code !== 0) throw new Error(`the fleet's sshd does not start: ${started.stderr}`);
  return {
    folder,
    enter: ['nsenter', `--target=${String(initOf(SYSTEM)!.pid)}`, '--net', '--'],
    identityFile: file('login'),
    knownHostsFile: file('known_hosts'),
    port: PORT,
    address: (index) => `127.0.${String(1 + Math.floor(index / 250))}.${String(1 + (index % 250))}`,
    async stop() {
      await down([SYSTEM]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
