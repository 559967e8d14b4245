import { hasKubelet } from '../cluster/fleet/joined.ts';
import { runsOnWindows } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { windowsPaths } from '../paths.ts';
import type { Watches } from '../shell/watched.ts';
import type { On } from '../ssh/remote.ts';
import { powershell } from '../templates.ts';
import type { WindowsService } from './machine.facts.ts';

/** A value in a service's own registry key; a number becomes a DWORD. */
interface ServiceParameter {
  readonly name: string;
  readonly value: string | number;
}

/** The desired state of a service of Windows. */
export interface WantedWindowsService {
  readonly name: string;
  readonly displayName: string;
  /** The command line. */
  readonly path: string;
  /** Names of services that run before it. */
  readonly dependsOn: readonly string[];
  /** `NAME=value` each. */
  readonly environment: readonly string[];
  readonly parameters: readonly ServiceParameter[];
  /** `registered`: kubeadm's join starts it. */
  readonly wanted: 'running' | 'registered';
  /** Files that it reads when it starts: a process that is older than one of them is restarted. */
  readonly uses: readonly string[];
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index]);

/**
 * A command line, with its flags sorted by their names: kubeadm sorts what it writes, and their order means nothing to
 * a program. Flags of one name keep their order: the last one wins.
 */
function inOrder(line: string): string {
  const [program = '', ...flags] = line.split(/\s(?=--)/).map((word) => word.trimEnd());
  const nameOf = (flag: string): string => flag.split('=', 1)[0]!;
  return [program, ...flags.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b))))].join(' ');
}

/** True if these command lines start the same program with the same flags. */
const isSameLine = (a: string | undefined, b: string): boolean => a !== undefined && inOrder(a) === inOrder(b);

/** Settings of nssm that a service has and should not have. Other values of its key are not kbuild's. */
const dropped = (found: WindowsService, wanted: WantedWindowsService): readonly string[] =>
  found.parameters
    .map(({ name }) => name)
    .filter((name) => name.startsWith('App') && !wanted.parameters.some((one) => one.name === name));

/** What differs in how a service is registered. */
function registration(found: WindowsService, wanted: WantedWindowsService): readonly string[] {
  const parameters = new Map(found.parameters.map(({ name, value }) => [name, value]));
  return [
    ...(isSameLine(found.path, wanted.path) ? [] : ['its command line']),
    ...(found.startMode === 'Auto' ? [] : [`start mode ${found.startMode}`]),
    ...(same(found.dependsOn, wanted.dependsOn) ? [] : ['what it depends on']),
    ...(same(found.environment, wanted.environment) ? [] : ['its environment']),
    ...(found.restarts ? [] : ['no restart after a failure']),
    ...(wanted.parameters.every(({ name, value }) => isSameLine(parameters.get(name), String(value)))
      ? []
      : ['its parameters']),
    ...(dropped(found, wanted).length === 0 ? [] : ['parameters that are not its own']),
  ];
}

/**
 * The changes of a service of a Windows host, in the order in which kbuild applies them. `found`: what is known of the
 * service, where that is newer than its observation.
 */
export function windowsServiceChanges(
  target: Target<'windows'>,
  wanted: WantedWindowsService,
  found = target.facts.services.get(wanted.name),
): readonly Change[] {
  const { host, facts } = target;
  const { name } = wanted;
  const disrupts = hasKubelet(facts);
  const register = runsOnWindows(
    host,
    powershell('windows/register-service.ps1', {
      Name: name,
      DisplayName: wanted.displayName,
      Path: wanted.path,
      DependsOn: wanted.dependsOn,
      Environment: wanted.environment,
      Parameters: wanted.parameters.map((parameter) => ({ ...parameter })),
    }),
  );
  const act = (Action: 'start' | 'restart') =>
    runsOnWindows(host, powershell('windows/set-service-state.ps1', { Name: name, Action }));
  const start: readonly Change[] =
    wanted.wanted === 'running'
      ? [{ summary: `start ${name} (found ${found?.state ?? 'none'})`, apply: act('start') }]
      : [];
  const used = wanted.uses.map((path) => ({ path, file: facts.files.at(path) }));
  if (found === undefined) return [{ summary: `register service ${name} (found none)`, apply: register }, ...start];
  const differs = registration(found, wanted);
  const changed: readonly Change[] =
    differs.length === 0 ? [] : [{ summary: `change service ${name} (found ${differs.join(', ')})`, apply: register }];
  // A paused service runs no program: nssm pauses one whose program ends at once. In a pending state the script waits
  // first.
  const isUp = found.state === 'Running' || (found.state === 'Paused' && wanted.wanted === 'running');
  if (!isUp) return [...changed, ...start];
  const newer = used.find(({ file }) => (file?.modifiedMs ?? 0) > found.startedMs)?.path;
  const why =
    differs.length > 0
      ? 'its registration changes'
      : found.state === 'Paused'
        ? 'found Paused'
        : newer === undefined
          ? undefined
          : `${newer} is newer`;
  if (why === undefined) return [];
  const restarts = disrupts ? [{ what: name, hosts: [host.name], aboutMs: ABOUT_MS.service }] : [];
  return [...changed, { summary: `restart ${name} (${why})`, disrupts, restarts, apply: act('restart') }];
}

/**
 * Registers a service of Windows as it is wanted, and starts it, after another command of the same change has stopped
 * it.
 */
export async function startStopped(target: Target<'windows'>, wanted: WantedWindowsService, on: On): Promise<void> {
  const found = target.facts.services.get(wanted.name);
  const stopped = found === undefined ? undefined : { ...found, state: 'Stopped', startedMs: 0 };
  for (const { apply } of windowsServiceChanges(target, wanted, stopped)) await apply?.(on);
}

/**
 * Registers and starts a service of Windows. Restarts it if it is older than a file that it uses. `watches`: its name
 * and these files.
 */
export const windowsService = (
  name: string,
  watches: Watches,
  wanted: (target: Target<'windows'>) => WantedWindowsService,
): Step<'windows'> => ({
  name,
  watches,
  settleMs: 60_000,
  diff: (target) => windowsServiceChanges(target, wanted(target)),
});

/** Command line of every service that nssm runs. The service's parameters name the program. */
export const NSSM = `${windowsPaths.programs}\\nssm.exe`;

/** Parameters of a service that nssm runs (source: nssm.cc/usage). nssm rotates the log after 10 MiB or one day. */
export const nssmParameters = (program: string, flags: readonly string[], log: string): readonly ServiceParameter[] => [
  { name: 'Application', value: program },
  { name: 'AppDirectory', value: windowsPaths.programs },
  { name: 'AppParameters', value: flags.join(' ') },
  { name: 'AppStdout', value: log },
  { name: 'AppStderr', value: log },
  { name: 'AppRotateFiles', value: 1 },
  { name: 'AppRotateOnline', value: 1 },
  { name: 'AppRotateBytes', value: 10_485_760 },
  { name: 'AppRotateSeconds', value: 86_400 },
];
