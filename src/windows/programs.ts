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

/** A program, where it comes from and where it goes. */
export interface Program {
  /** As in the fact `programs`. */
  readonly name: string;
  /** undefined: any will do. */
  readonly version: string | undefined;
  readonly url: string;
  /** Where its SHA-256 lies when the inventory has none. */
  readonly sumUrl: string;
  /** The program itself, or the folder of an archive's content. */
  readonly target: string;
  /** How many leading folders of the archive are left out; undefined: it is no archive. */
  readonly strip?: number;
  /** Services that run it. */
  readonly services: readonly string[];
}

const fileName = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** Brings a program to its place: the host fetches it, or this machine does and sends it. */
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

/** Of a change that stops and starts services of a host: it disrupts one that has joined. */
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

/** The version in what a program says of itself. */
const versionIn = (said: string): string | undefined => /\bv?(\d+\.\d+\.\d+)\b/.exec(said)?.[1];

/** A program of the wanted version that runs. */
export const program = (
  observed: VersionedProgram,
  wanted: (target: Target<'windows'>) => Program | undefined,
): Step<'windows'> => ({
  name: observed.name,
  watches: { programs: [observed] },
  diff: (target) => {
    const it = wanted(target);
    if (it === undefined) return [];
    const state = target.facts.programs.get(it.name);
    const version = versionIn(state?.said ?? '');
    if (state?.state === 'works' && (it.version === undefined || version === it.version)) return [];
    const found =
      state === undefined ? 'none' : state.state === 'broken' ? 'one that does not run' : (version ?? 'another');
    return [
      {
        summary: `install ${it.name}${it.version === undefined ? '' : ` ${it.version}`} (found ${found})`,
        ...restarting(target, it.services),
        apply: (on) => install(on, target, it),
      },
    ];
  },
});

/** How most programs tell their version. */
export const TELLS_VERSION = { arguments: ['--version'], exits: [] } as const;

/** A program of Kubernetes' own release. */
export const kubernetesProgram = (
  name: string,
  about: {
    /** How it tells its version; default `--version`. */
    readonly observed?: Pick<VersionedProgram, 'arguments' | 'exits'>;
    readonly services?: readonly string[];
    readonly version?: 'any';
    readonly when?: (target: Target<'windows'>) => boolean;
  } = {},
): Step<'windows'> => {
  const path = `${windowsPaths.programs}\\${name}.exe`;
  return program({ name, path, ...(about.observed ?? TELLS_VERSION) }, (target) => {
    if (about.when?.(target) === false) return undefined;
    const { inventory, facts, fleet } = target;
    const url = `${target.host.windows.downloads.kubernetes}/${name}.exe`;
    const installed = versionIn(facts.programs.get(name)?.said ?? '');
    const version = programVersion(inventory, fleet.cluster, { hasJoined: hasKubelet(facts), installed });
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
