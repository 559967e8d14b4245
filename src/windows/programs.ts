import { programVersion } from '../cluster/api-versions.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { VersionedProgram } from '../facts/watched.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { bypassesProxy } from '../topology/proxy.ts';
import { windowsPaths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { powershell } from '../templates.ts';
import { fetched, sumAt } from './fetched.ts';

/** A program to install: its source and its target. */
export interface Program {
  /** Key in the fact `programs`. */
  readonly name: string;
  /** undefined: every version is accepted. */
  readonly version: string | undefined;
  readonly url: string;
  /** URL of its SHA-256, for a program without a checksum in the inventory. */
  readonly sumUrl: string;
  /** Path of the program, or the folder for the content of an archive. */
  readonly target: string;
  /** Number of leading path parts to strip from the archive's entries; undefined: the download is the program itself. */
  readonly strip?: number;
  /** Services to stop before the program is replaced. */
  readonly services: readonly string[];
}

const fileName = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** Installs a program. `downloads.via` decides: the host fetches it, or this machine fetches and uploads it. */
export async function install(on: On, { inventory, host }: Target<'windows'>, program: Program): Promise<void> {
  const { downloads } = host.windows;
  const { proxy } = inventory;
  const remote = on(host);
  const through =
    proxy === undefined || bypassesProxy(proxy.noProxy, new URL(program.url).hostname)
      ? ''
      : (proxy.https ?? proxy.http ?? '');
  const known = downloads.sha256[fileName(program.url)];
  const common = {
    Archive: program.strip !== undefined,
    Strip: program.strip ?? 0,
    Target: program.target,
    Stop: program.services,
  };
  const script = (where: Readonly<Record<string, string>>) => ({
    ...powershell('windows/install-program.ps1', { ...common, ...where }),
    title: `install ${program.name}`,
  });
  const name = `install-${program.name}`;
  if (downloads.via === 'host') {
    await remote.job(name, script({ Url: program.url, Sha256: known ?? '', SumUrl: program.sumUrl, Proxy: through }));
    return;
  }
  const sum = known ?? (await sumAt(program.sumUrl));
  const uploaded = `${program.target}.upload`;
  await fetched(program.url, sum, (local) => remote.upload(local, uploaded));
  await remote.job(name, script({ Uploaded: uploaded, Sha256: sum }));
}

/** What a change that restarts these services disrupts: a host that has joined, nothing before. */
export function restarting(
  { host, facts }: Target<'windows'>,
  services: readonly string[],
): Pick<Change, 'disrupts' | 'restarts'> {
  if (!hasKubelet(facts) || services.length === 0) return { disrupts: false };
  return {
    disrupts: true,
    restarts: services.map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.service })),
  };
}

/** The first version in the output of a program. */
const versionIn = (output: string): string | undefined => /\bv?(\d+\.\d+\.\d+)\b/.exec(output)?.[1];

/** The step that installs a program, unless the desired version runs. */
export const program = (
  observed: VersionedProgram,
  desired: (target: Target<'windows'>) => Program | undefined,
): Step<'windows'> => ({
  name: observed.name,
  watches: { programs: [observed] },
  diff: (target) => {
    const wanted = desired(target);
    if (wanted === undefined) return [];
    const state = target.facts.programs.get(wanted.name);
    const version = versionIn(state?.said ?? '');
    if (state?.state === 'works' && (wanted.version === undefined || version === wanted.version)) return [];
    const found =
      state === undefined ? 'none' : state.state === 'broken' ? 'one that does not run' : (version ?? 'another');
    return [
      {
        summary: `install ${wanted.name}${wanted.version === undefined ? '' : ` ${wanted.version}`} (found ${found})`,
        ...restarting(target, wanted.services),
        apply: (on) => install(on, target, wanted),
      },
    ];
  },
});

/** Arguments with which most programs print their version. */
export const VERSION_ARGUMENTS = { arguments: ['--version'], exits: [] } as const;

/** The step that installs a program of the Kubernetes release. */
export const kubernetesProgram = (
  name: string,
  about: {
    /** Arguments that print its version; default `--version`. */
    readonly observed?: Pick<VersionedProgram, 'arguments' | 'exits'>;
    readonly services?: readonly string[];
    readonly version?: 'any';
    readonly when?: (target: Target<'windows'>) => boolean;
  } = {},
): Step<'windows'> => {
  const path = `${windowsPaths.programs}\\${name}.exe`;
  return program({ name, path, ...(about.observed ?? VERSION_ARGUMENTS) }, (target) => {
    if (about.when?.(target) === false) return undefined;
    const { inventory, facts, fleet } = target;
    const url = `${target.host.windows.downloads.kubernetes}/${name}.exe`;
    const installed = versionIn(facts.programs.get(name)?.said ?? '');
    const version = programVersion(inventory, fleet.cluster, {
      hasJoined: hasKubelet(facts),
      installed,
      older: 'is replaced',
    });
    return {
      name,
      version: about.version === 'any' || version === 'any' ? undefined : version,
      url,
      sumUrl: `${url}.sha256`,
      target: path,
      services: about.services ?? [],
    };
  });
};
