/** Debian's own Docker, started by hand for a test: nothing is installed, and no rule of this machine's packet filter changes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifact, folderOf, make } from './artifact.ts';
import { LabError } from './errors.ts';
import { mirrors } from './mirrors.ts';
import { GATEWAY } from './network-plan.ts';
import { paths } from './paths.ts';
import { installPackages } from './requirements.ts';
import { attempt, run } from './run.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

/** Not kblab…: the lab's own rules must not match it. Its containers reach the lab's servers, which are on this machine. */
const BRIDGE = { name: 'kbdock0', address: '10.78.0.1/24' };

const dockerIo = (MIRROR: string): Artifact => ({ name: 'docker-io', recipe: 'docker-io', settings: { MIRROR } });

/** What is kept where everything else is thrown away. */
export const dockerDaemonArtifacts = (): readonly Artifact[] => [dockerIo('')];

/** A daemon that runs. */
export interface DockerDaemon {
  /** The environment in which `docker` is its client. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs its client; throws LabError with its stderr. */
  readonly docker: (...args: readonly string[]) => Promise<string>;
  /** Makes an image of a tree of files. */
  readonly importTree: (tree: string, image: string) => Promise<void>;
  /** Removes all its containers, ends it by its number, and removes what it has written. */
  readonly stop: () => Promise<void>;
}

async function bridgeUp(): Promise<void> {
  const { name, address } = BRIDGE;
  if ((await attempt('ip', ['link', 'show', name])).code !== 0)
    await run('ip', ['link', 'add', name, 'type', 'bridge']);
  await run('ip', ['address', 'replace', address, 'dev', name]);
  await run('ip', ['link', 'set', name, 'up']);
}

/** Starts it with a data root and a socket of its own. */
export async function startDocker(): Promise<DockerDaemon> {
  await installPackages();
  await mkdir(paths.build, { recursive: true });
  const artifact = dockerIo((await mirrors()).debian);
  await make(artifact);
  const programs = folderOf(artifact);
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-docker-'));
  const socket = `unix://${folder}/docker.sock`;
  const env = {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    DOCKER_HOST: socket,
    DOCKER_CONFIG: join(folder, 'client'),
  };
  mkdirSync(env.DOCKER_CONFIG);
  writeFileSync(join(folder, 'daemon.json'), '{}');
  await bridgeUp();
  const log = openSync(join(folder, 'log'), 'a');
  const daemon = spawn(
    join(programs, 'dockerd'),
    [
      ...['--config-file', join(folder, 'daemon.json'), '--host', socket, '--pidfile', join(folder, 'pid')],
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '--storage-driver', 'overlay2'],
      ...['--bridge', BRIDGE.name, '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
      ...['--add-runtime', `lab-runc=${join(programs, 'lab-runc')}`, '--default-runtime', 'lab-runc'],
      // Nobody answers there: at once, instead of after a timeout.
      ...['--oom-score-adjust', '0', '--dns', GATEWAY],
    ],
    { detached: true, stdio: ['ignore', log, log], env: { ...process.env, ...env } },
  );
  closeSync(log);
  const docker = (...args: readonly string[]): Promise<string> => run('docker', args, { env });
  await waitUntil('dockerd: an answer', PATIENCE_MS, async () => {
    if (daemon.exitCode !== null)
      throw new LabError(`dockerd has ended:\n${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`);
    return (await attempt('docker', ['version'], { env })).code === 0;
  });
  return {
    env,
    docker,
    async importTree(tree, image) {
      await run('sh', ['-c', 'tar -C "$0" -c . | docker import - "$1"', tree, image], { env });
    },
    async stop() {
      const ids = (await docker('ps', '-aq')).split('\n').filter((id) => id !== '');
      if (ids.length > 0) await docker('rm', '-f', '-v', ...ids);
      const ended = once(daemon, 'exit');
      daemon.kill('SIGTERM');
      await ended;
      await run('ip', ['link', 'delete', BRIDGE.name]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
