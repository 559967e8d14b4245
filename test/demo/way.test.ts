import { describe, expect, test } from 'vitest';
import { options } from './options.ts';
import { choose, type EngineState, engineState, type Machine, waysText } from './way.ts';

const GIB = 2 ** 30;
const DEBIAN_12 = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n';
const UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nID=ubuntu\nVERSION_ID="24.04"\n';
const answers = { kind: 'answers', rootless: false, containers: 'linux', system: '', cpus: 4, memoryBytes: 8 * GIB } as const; // prettier-ignore
const absent: EngineState = { kind: 'absent' };
const bare: Machine = { platform: 'linux', uid: 1000, osRelease: UBUNTU, engines: { docker: absent, podman: absent } };
const withDocker = (docker: EngineState, more: Partial<Machine> = {}): Machine => ({
  ...bare,
  ...more,
  engines: { docker, podman: absent },
});
const withPodman = (podman: EngineState, more: Partial<Machine> = {}): Machine => ({
  ...bare,
  ...more,
  engines: { docker: absent, podman },
});

describe('the way of a demo', () => {
  test('root on Debian 12 gets hosts of the lab, also beside Docker', () => {
    expect(choose({ ...withDocker(answers), uid: 0, osRelease: DEBIAN_12 }).way).toBe('lab');
  });

  test.each<[string, Partial<Machine>]>([
    ['a user on Ubuntu', {}],
    ['root on Ubuntu', { uid: 0 }],
    ['a user on Debian 12', { osRelease: DEBIAN_12 }],
    ['root on Debian 13', { uid: 0, osRelease: DEBIAN_12.replaceAll('12', '13') }],
    ['macOS', { platform: 'darwin', osRelease: '' }],
  ])('%s gets containers where Docker answers', (_, more) => {
    expect(choose(withDocker(answers, more)).way).toBe('docker');
  });

  test('Podman is taken where Docker is not, and only with root', () => {
    expect(choose(withPodman(answers, { uid: 0 })).way).toBe('podman');
    expect(choose({ ...bare, engines: { docker: answers, podman: answers } }).way).toBe('docker');
    const rootless = choose(withPodman({ ...answers, rootless: true }));
    expect(rootless.way).toBe('recording');
    expect(rootless.lacks.podman).toEqual(['Podman with root: run the same command with sudo']);
    expect(choose(withPodman({ ...answers, rootless: true }, { platform: 'darwin' })).lacks.podman).toEqual([
      'Podman with root: podman machine stop && podman machine set --rootful && podman machine start',
    ]);
  });

  test.each<[string, Machine, string]>([
    ['no engine', bare, 'Docker (found no program docker)'],
    [
      'a daemon that does not answer',
      withDocker({ kind: 'silent', message: 'permission denied' }),
      'Docker that answers: start it, or let this user use it (`docker info` said: permission denied)',
    ],
    [
      'a rootless daemon',
      withDocker({ ...answers, rootless: true }),
      'Docker that runs as root (found a rootless one): use its root daemon',
    ],
    [
      'containers of Windows',
      withDocker({ ...answers, containers: 'windows' }),
      'containers of Linux (Docker runs those of windows)',
    ],
    ['one CPU', withDocker({ ...answers, cpus: 1 }), '2 CPUs for Docker (found 1)'],
    ['little memory', withDocker({ ...answers, memoryBytes: 2 * GIB }), '3 GiB of memory for Docker (found 2.0 GiB)'],
    [
      'Windows itself',
      withDocker(answers, { platform: 'win32', uid: undefined, osRelease: '' }),
      'Linux or macOS (found Windows): run the same command in WSL',
    ],
  ])('%s: a recording, and what Docker lacks', (_, machine, lack) => {
    const { way, lacks } = choose(machine);
    expect(way).toBe('recording');
    expect(lacks.docker).toEqual([lack]);
    expect(waysText({ lacks })).toContain(lack);
  });

  test('both ways are told with all that they lack', () => {
    expect(waysText(choose(bare))).toBe(`a real build is had in one of two ways:
  1. hosts are containers, on Linux, macOS or WSL
     of Docker: npm run demo -- --with docker
       lacks Docker (found no program docker)
     of Podman with root: npm run demo -- --with podman
       lacks Podman (found no program podman)
  2. hosts are in the lab, on Debian 12, as root
     of the lab: npm run demo -- --with lab
       lacks Debian 12 (found Ubuntu 24.04.3 LTS)
       lacks root: run the same command with sudo
`);
  });
});

describe('what an engine says of itself', () => {
  const docker = { OSType: 'linux', OperatingSystem: 'Docker Desktop', NCPU: 4, MemTotal: 8 * GIB };

  test('Docker', () => {
    expect(engineState(JSON.stringify({ ...docker, SecurityOptions: ['name=seccomp,profile=default'] }))).toEqual({
      ...answers,
      system: 'Docker Desktop',
    });
    expect(engineState(JSON.stringify({ ...docker, SecurityOptions: ['name=rootless'] }))).toMatchObject({
      rootless: true,
    });
  });

  test('Podman, also by the name of docker', () => {
    const host = { os: 'linux', cpus: 4, memTotal: 8 * GIB, security: { rootless: true }, distribution: { distribution: 'fedora' } }; // prettier-ignore
    expect(engineState(JSON.stringify({ host }))).toEqual({ ...answers, rootless: true, system: 'fedora' });
  });

  test('one that does not answer says why, in one line', () => {
    const error = 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?';
    const silent = { kind: 'silent', message: error };
    expect(engineState(JSON.stringify({ ServerErrors: [error], OSType: '' }))).toEqual(silent);
    expect(engineState('', `${error}\nmore\n`)).toEqual(silent);
    expect(engineState('null', `${error}\n`)).toEqual(silent);
    expect(engineState('')).toEqual({ kind: 'silent', message: 'nothing' });
  });
});

describe('the command line', () => {
  test('names a way, or leaves it open', () => {
    expect(options([])).toEqual({ help: false, down: false, way: undefined, base: undefined, settings: undefined });
    expect(options(['--with', 'docker', '--base', 'mine:12', '--settings', 'mirrors.yaml'])).toMatchObject({
      ...{ way: 'docker', base: 'mine:12', settings: 'mirrors.yaml' },
    });
    expect(options(['--down'])).toMatchObject({ down: true });
  });

  test('that is wrong is refused with what there is', () => {
    expect(() => options(['--with', 'kvm'])).toThrow(
      'there is no such way; it is one of lab, docker, podman, recording',
    );
    expect(() => options(['--wiht'])).toThrow('npm run demo [-- OPTIONS]');
    expect(() => options(['docker'])).toThrow('npm run demo [-- OPTIONS]');
  });
});
