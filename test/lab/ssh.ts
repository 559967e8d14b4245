import { initOf } from './host-processes.ts';
import { hostSettings } from './host-settings.ts';
import { LabError } from './errors.ts';
import { paths } from './paths.ts';
import { isUbuntu } from './systems.ts';
import { VIRTUAL_MACHINE } from './virtual-machine.ts';
import { attempt, type Result } from './run.ts';

/** Who logs in on a host: the administrator of a cloud's Ubuntu, where root may not, or root. */
export const loginOf = (name: string): 'root' | 'ubuntu' => (isUbuntu(hostSettings(name).os) ? 'ubuntu' : 'root');

/** Options of OpenSSH to reach a host as `user`, the host's address last. Host keys are always verified. */
export function sshArguments(name: string, user: 'root' | 'ops' | 'ubuntu' = loginOf(name)): readonly string[] {
  const options = {
    IdentityFile: paths.identityFile,
    IdentitiesOnly: 'yes',
    UserKnownHostsFile: paths.knownHostsFile,
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    BatchMode: 'yes',
    ConnectTimeout: '5',
    ServerAliveInterval: '5',
    LogLevel: 'ERROR',
  };
  const flags = Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  return ['-F', 'none', ...flags, `${user}@${hostSettings(name).address}`];
}

/** Runs a shell command on a host as root over SSH, a connection of its own, and returns whatever came of it. Code 255: no connection. */
export function ssh(name: string, command: string, input?: string): Promise<Result> {
  const asRoot = loginOf(name) === 'root' ? command : `sudo -n bash -c '${command.replaceAll("'", String.raw`'\''`)}'`;
  return attempt('ssh', [...sshArguments(name), asRoot], input === undefined ? {} : { input });
}

/**
 * Runs a shell command in a host as root without its sshd and network: in 10 ms, under a partition, and unseen by its logs.
 * What it starts and leaves running belongs to no unit of the host. Throws LabError when the host is off, or a virtual machine.
 */
export async function inside(name: string, command: string, input?: string): Promise<Result> {
  return attempt('nsenter', insideArguments(name, command), input === undefined ? {} : { input });
}

/** The arguments of nsenter(1) for that. */
export function insideArguments(name: string, command: string): readonly string[] {
  if (hostSettings(name).os === VIRTUAL_MACHINE) throw new LabError(`${name} is a virtual machine: use ssh`);
  const init = initOf(name);
  if (init === undefined) throw new LabError(`${name} is off`);
  const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const enter = [`--target=${init.pid}`, '--mount', '--uts', '--ipc', '--net', '--pid', '--root', '--wd'];
  return [...enter, 'env', '-i', `PATH=${PATH}`, 'HOME=/root', 'LANG=C.UTF-8', '/bin/bash', '-c', `cd\n${command}`];
}
