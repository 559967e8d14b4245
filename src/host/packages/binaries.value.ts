import { Refused } from '../../errors.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { paths } from '../../paths.ts';
import { containerRuntime, unitsOf } from '../../runtime/runtimes.value.ts';
import type { Command } from '../../shell/command.ts';
import { lines, probeInPlace } from '../../shell/probe.ts';
import { script, using } from '../../templates.ts';
import type { Distribution } from './distribution.value.ts';
import type { PackageRequest, PackageState } from './package-manager.value.ts';
import { anyVersion, goArchitecture, programFiles } from './sources.value.ts';

/**
 * Programs that kbuild installed, by the name of the package that they stand for. `half`: a file is missing or another
 * one.
 */
export const installedPrograms = probeInPlace(
  script('host/packages/probe-programs.sh', { PROGRAMS: paths.programs }),
  (out): ReadonlyMap<string, PackageState> =>
    new Map(
      lines(out).map((line) => {
        const [name, version, state] = line.split(' ');
        return [
          name!,
          { state: state === 'installed' ? 'installed' : 'half', version: version!, held: true, from: 'binaries' },
        ] as const;
      }),
    ),
);

/** The parts of a host that decide what it downloads. */
interface Place {
  readonly inventory: Inventory;
  readonly host: LinuxHost;
  readonly facts: { readonly arch: string };
}

const unproved = (host: LinuxHost, url: string, proof: 'none' | 'plain'): Refused =>
  new Refused(
    'download-unproven',
    host.name,
    proof === 'plain'
      ? `${url} comes over plain http, and the inventory does not name its SHA-256`
      : `the SHA-256 of ${url} is published nowhere, and the inventory does not name it`,
    'download the file, compare it with what its project says, and name its SHA-256 below downloads.sha256',
  );

/**
 * The signer of Kubernetes' programs: Kubernetes documentation, "Verify Signed Kubernetes Artifacts". cosign before 3
 * and cosign 3 take the certificate and the signature as files.
 */
const SIGNER = {
  IDENTITY: 'krel-staging@k8s-releng-prod.iam.gserviceaccount.com',
  ISSUER: 'https://accounts.google.com',
} as const;

/** One line for each file: NAME VERSION KIND FOLDER FILE URL PROOF SIGNATURE. */
function downloadLines({ inventory, host, facts }: Place, folder: string, request: PackageRequest): readonly string[] {
  const place = { architecture: goArchitecture(facts.arch), folder };
  const all = { ...request.packages, ...Object.fromEntries(request.optional.map((name) => [name, 'any'])) };
  return Object.entries(all).flatMap(([name, wanted]) => {
    const version = wanted === 'any' ? anyVersion(inventory, name) : wanted;
    const files = programFiles(inventory, place, name, version);
    if (files.length === 0)
      throw new Refused(
        'no-binaries',
        host.name,
        `${name} is published as a package only, and the host gets binaries`,
        'use another runtime there, or packages (installFrom: distribution) on a system that has them',
      );
    return files.map(({ kind, folder: to, name: file, url, proof, signature }) => {
      if (proof === 'none' || proof === 'plain') throw unproved(host, url, proof);
      const sum = 'url' in proof ? proof.url : `sha256:${proof.sha256}`;
      return [name, version, kind, to, file, url, sum, signature].join(' ');
    });
  });
}

/**
 * Downloads programs, compares each with its SHA-256, verifies signatures where there is cosign, and puts them in their
 * places, each by a rename. Nothing is replaced before everything has arrived. Run as a job. @throws Refused for a
 * package that is not published as programs
 */
export function installPrograms(place: Place, distribution: Distribution, request: PackageRequest): Command<'sh'> {
  const { inventory } = place;
  const units = Object.keys(request.packages).flatMap((name) => unitsOf(inventory, name).slice(-1));
  return using(
    distribution.downloader,
    script('host/packages/install-programs.sh', {
      DOWNLOADS: downloadLines(place, distribution.programFolder, request),
      PROGRAMS: paths.programs,
      ...SIGNER,
      RESTART: units,
      UNPACK: request.unpackKubeadm ?? '',
      PROXY: request.proxy?.http ?? '',
      HTTPS_PROXY: request.proxy?.https ?? '',
      NO_PROXY: request.proxy?.noProxy.join(',') ?? '',
    }),
  );
}

/** Stops the units that run them, and removes the programs of these packages from a host, with the records of them. */
export function removePrograms(inventory: Inventory, names: readonly string[]): Command<'sh'> {
  const states = (containerRuntime(inventory).programs ?? []).filter(({ name }) => names.includes(name));
  return script('host/packages/remove-programs.sh', {
    NAMES: names,
    UNITS: names.flatMap((name) => unitsOf(inventory, name)),
    STATE: states.map(({ stateFolder }) => stateFolder),
    PROGRAMS: paths.programs,
  });
}
