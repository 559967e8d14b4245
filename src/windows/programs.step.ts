import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { programVersion } from '../cluster/api-versions.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { bypassesProxy } from '../host/proxy.value.ts';
import { fetchHttps } from '../inventory/file/sources.ts';
import { windowsPaths } from '../paths.ts';
import { sha256OfFile } from '../shell/plain-file.ts';
import type { VersionedProgram } from '../shell/watched.ts';
import type { On } from '../ssh/remote.ts';
import { powershell } from '../templates.ts';
import { WINDOWS_CRI_SOCKET } from './kubeadm.ts';

async function responseOf(url: string): Promise<Response> {
  const response = await fetchHttps(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be fetched from here: ${String((error as Error).cause ?? error)}`);
  });
  if (!response.ok) throw new Error(`${url} cannot be fetched from here: status ${String(response.status)}`);
  return response;
}

/**
 * The first SHA-256 (lower-case hex) in the file at `url`. Throws an Error if the file has none or cannot be fetched.
 */
async function sumAt(url: string): Promise<string> {
  const sum = /[0-9a-f]{64}/i.exec(await (await responseOf(url)).text())?.[0];
  if (sum === undefined) throw new Error(`no SHA-256 at ${url}`);
  return sum.toLowerCase();
}

/**
 * Fetches a file to this machine, verifies its SHA-256, passes its path to `use`, then removes it. Throws an Error on a
 * mismatch.
 */
async function fetched<T>(url: string, sha256: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'kbuild-'));
  try {
    const file = join(folder, 'file');
    const { body } = await responseOf(url);
    await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(file, { mode: 0o600 }));
    const found = await sha256OfFile(file);
    if (found !== sha256) throw new Error(`checksum mismatch: ${url} has SHA-256 ${found}, and ${sha256} was expected`);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A program to install: its source and its target. */
interface Program {
  /** Key in the fact `programs`. */
  readonly name: string;
  /** undefined: every version is accepted. */
  readonly version: string | undefined;
  readonly url: string;
  /** URL of its SHA-256, for a program without a checksum in the inventory. */
  readonly sumUrl: string;
  /** Path of the program, or the folder for the content of an archive. */
  readonly target: string;
  /**
   * Number of leading path parts to strip from the archive's entries; undefined: the download is the program itself.
   */
  readonly strip?: number;
  /** Services to stop before the program is replaced. */
  readonly services: readonly string[];
  /**
   * The file of an archive that comes last: it tells the version, and what was cut off before it is installed again.
   */
  readonly last?: string;
  /** Path of crictl.exe, for a container runtime: its pods go before it is replaced, and it runs again afterwards. */
  readonly crictl?: string;
}

const fileName = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** The command that installs a program. `where`: its source, as parameters of the script. */
const installation = (
  program: Program,
  where: Readonly<Record<string, string>>,
  title = `install ${program.name}`,
) => ({
  ...powershell('windows/install-program.ps1', {
    Archive: program.strip !== undefined,
    Strip: program.strip ?? 0,
    Target: program.target,
    Stop: program.services,
    Last: program.last ?? '',
    Crictl: program.crictl ?? '',
    Endpoint: program.crictl === undefined ? '' : WINDOWS_CRI_SOCKET,
    ...where,
  }),
  title,
});

/**
 * Installs a program. `downloads.via` decides: the host fetches it, or this machine fetches and uploads it. `title`:
 * what the log calls it.
 */
export async function install(
  on: On,
  { inventory, host }: Unobserved<'windows'>,
  program: Program,
  title?: string,
): Promise<void> {
  const { downloads } = host.windows;
  const { proxy } = inventory;
  const remote = on(host);
  const through =
    proxy === undefined || bypassesProxy(proxy.noProxy, new URL(program.url).hostname)
      ? ''
      : (proxy.https ?? proxy.http ?? '');
  const known = downloads.sha256[fileName(program.url)];
  if (known === undefined && program.url.startsWith('http:'))
    throw new Refused(
      'download-unproven',
      host.name,
      `${program.url} comes over plain http, and the inventory does not name its SHA-256`,
      'use https://, or name the SHA-256 below windows.downloads.sha256',
    );
  const name = `install-${program.name}`;
  if (downloads.via === 'host') {
    const where = { Url: program.url, Sha256: known ?? '', SumUrl: program.sumUrl, Proxy: through };
    await remote.job(name, installation(program, where, title));
    return;
  }
  const sum = known ?? (await sumAt(program.sumUrl));
  const uploaded = `${program.target}.upload`;
  await fetched(program.url, sum, (local) => remote.upload(local, uploaded));
  await remote.job(name, installation(program, { Uploaded: uploaded, Sha256: sum }, title));
}

/** Installs a program from a file of the host, which was verified when it was downloaded. The file moves. */
export async function installFrom(
  on: On,
  { host }: Unobserved<'windows'>,
  program: Program,
  file: { readonly path: string; readonly sha256: string },
): Promise<void> {
  await on(host).job(`install-${program.name}`, installation(program, { Uploaded: file.path, Sha256: file.sha256 }));
}

/** The disruption of a change that restarts these services: none before the host has joined. */
function restarting(
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

/**
 * The change that installs a program, unless the file is the one whose checksum the inventory has. It must be watched.
 */
export function pinnedProgram(target: Target<'windows'>, wanted: Program): readonly Change[] {
  const { host, facts } = target;
  const found = facts.files.at(wanted.target);
  const sum = host.windows.downloads.sha256[fileName(wanted.url)];
  if (found?.kind === 'file' && found.sha256 === sum?.toLowerCase()) return [];
  return [
    {
      summary: `install ${wanted.name} (found ${found === undefined ? 'none' : 'another'})`,
      ...restarting(target, wanted.services),
      apply: (on) => install(on, target, wanted),
    },
  ];
}

/** Arguments with which most programs print their version. */
export const VERSION_ARGUMENTS = { arguments: ['--version'], exits: [] } as const;

/** The version of an installed program, without `v`; undefined where there is none, or none that runs. */
export const installedVersion = ({ facts }: Pick<Target<'windows'>, 'facts'>, name: string): string | undefined =>
  versionIn(facts.programs.get(name)?.said ?? '');

/** A program of the Kubernetes release in one version, without `v`. */
export function kubernetesRelease(
  { host }: Unobserved<'windows'>,
  name: string,
  { version, services }: { readonly version: string } & Pick<Program, 'services'>,
): Program {
  const url = `${host.windows.downloads.kubernetes.replaceAll('{version}', version)}/${name}.exe`;
  const target = `${windowsPaths.programs}\\${name}.exe`;
  return { name, version, url, sumUrl: `${url}.sha256`, target, services };
}

/**
 * The step that installs a program of the Kubernetes release. On a host that has joined, `upgrade` brings a newer one.
 */
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
    const version = programVersion(inventory, fleet.cluster, {
      hasJoined: hasKubelet(facts),
      installed: installedVersion(target, name),
    });
    const isAny = version === 'any';
    const release = kubernetesRelease(target, name, {
      version: isAny ? inventory.kubernetes.version : version,
      services: about.services ?? [],
    });
    return about.version === 'any' || isAny ? { ...release, version: undefined } : release;
  });
};
