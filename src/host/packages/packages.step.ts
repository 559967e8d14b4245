import { hasKubelet } from '../../cluster/fleet/joined.ts';
import type { LinuxFacts } from '../../cluster/fleet/linux.ts';
import { ABOUT_MS } from '../../engine/restarts.ts';
import type { Change, Step, Target, Unobserved } from '../../engine/step.ts';
import { runtimePackages, unitsOf } from '../../runtime/runtimes.value.ts';
import type { Watches } from '../../shell/watched.ts';
import type { Distribution } from './distribution.value.ts';
import { distributionOf, runtimeOfSource, systemRuntimePackages } from './distributions.value.ts';
import { getsBinaries, installation, isBuiltIn, isInstalledAs, otherWay, systemRuntime } from './installer.value.ts';
import type { PackageState, RepositoryId } from './package-manager.value.ts';

/**
 * By package: its version without the distribution's suffix (`1.36.3`), or `any`, or a function of the observed host.
 */
export type WantedPackages = Readonly<Record<string, string | ((target: Target) => string)>>;

/** How packages are installed. */
interface PackageOptions {
  /** `held`: kbuild holds them, so that an upgrade of the system does not change them. Default `free`. */
  readonly upgrades?: 'held' | 'free';
  /** Installed with the others if a repository has them. A missing one causes no change. */
  readonly optional?: (distribution: Distribution, facts: LinuxFacts) => readonly string[];
  /** kbuild's repositories with the packages. Default: the host's own repositories. */
  readonly sources?: readonly RepositoryId[];
}

const BALANCER_UNITS = ['haproxy', 'keepalived'];

/** The units that `installationRestarts` reads. */
export const RESTART_WATCHES: Watches = { units: BALANCER_UNITS };

/** True for a host with a joined kubelet or a running load balancer. */
const isInUse = ({ facts }: Target): boolean =>
  hasKubelet(facts) || BALANCER_UNITS.some((unit) => facts.services.get(unit)?.active === 'active');

/** The services that an installation of these packages restarts on a host that is in use. */
export function installationRestarts(target: Target, names: readonly string[]): Pick<Change, 'disrupts' | 'restarts'> {
  const { inventory, host } = target;
  // The packages of balancers restart them, too.
  const units = names.flatMap((name) => (BALANCER_UNITS.includes(name) ? [name] : unitsOf(inventory, name).slice(-1)));
  if (units.length === 0 || !isInUse(target)) return { disrupts: false };
  return {
    disrupts: true,
    restarts: units.map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.service })),
  };
}

const found = (state: PackageState | undefined): string =>
  state === undefined ? 'none' : state.state === 'half' ? `${state.version} half installed` : state.version;

/** True for the package of a runtime that the host's system brings, in any version. */
const isBroughtBySystem = (target: Target, { sources = [] }: PackageOptions): boolean =>
  isBuiltIn(target, sources) &&
  runtimePackages(target.inventory).some((name) => target.facts.packages.get(name)?.state === 'installed');

/**
 * Packages of a runtime from the system's own repositories: in the version that the inventory pins, or in the one that
 * they have.
 */
const wantedOfSystem = (
  { inventory: { runtime } }: Target,
  [name, ...others]: readonly [string, ...string[]],
): Readonly<Record<string, string>> => ({
  [name]: runtime.versionFrom === 'inventory' ? runtime.version : 'any',
  ...Object.fromEntries(others.map((other) => [other, 'any'])),
});

/** The note of a plan if programs' signatures are not verified, and the inventory leaves that to the host. */
const unverified = (target: Target, sources: readonly RepositoryId[]): string =>
  sources.includes('kubernetes') &&
  target.inventory.downloads.kubernetes.signatures === 'auto' &&
  getsBinaries(target) &&
  !target.facts.cosign
    ? ', by checksums alone (no cosign)'
    : '';

function pendingChange(target: Target, all: WantedPackages, options: PackageOptions): Change | undefined {
  const { facts, host, inventory } = target;
  if (isBroughtBySystem(target, options)) return undefined;
  const sources = options.sources ?? [];
  const ofSystem = systemRuntime(target, sources);
  const isOfSystem = ofSystem !== undefined;
  const wanted = isOfSystem
    ? wantedOfSystem(target, ofSystem)
    : Object.fromEntries(
        Object.entries(all).map(([name, version]) => [name, typeof version === 'function' ? version(target) : version]),
      );
  const missing: string[] = [];
  const loose: string[] = [];
  for (const [name, version] of Object.entries(wanted)) {
    const state = facts.packages.get(name);
    // On an unsupported distribution the plan shows the change, and its apply refuses.
    if (state?.state !== 'installed' || !isInstalledAs(target, sources, state, version))
      missing.push(`${name}${version === 'any' ? '' : ` ${version}`} (found ${found(state)})`);
    else if (options.upgrades === 'held' && !state.held) loose.push(`${name} (found ${state.version}, not held)`);
  }
  if (missing.length === 0 && loose.length === 0) return undefined;
  const summary = [
    ...(missing.length > 0 ? [`install ${missing.join(', ')}${unverified(target, sources)}`] : []),
    ...(loose.length > 0 ? [`hold ${loose.join(', ')}`] : []),
  ].join('; ');
  return {
    summary,
    ...installationRestarts(target, missing.length > 0 ? Object.keys(wanted) : []),
    apply: async (on) => {
      const distribution = distributionOf(host, facts);
      const refused = Object.keys(wanted).map((name) => otherWay(target, sources, name, facts.packages.get(name)));
      for (const refusal of refused) if (refusal !== undefined) throw refusal;
      const request = {
        packages: wanted,
        optional: options.optional?.(distribution, facts) ?? [],
        hold: options.upgrades === 'held' ? Object.keys(wanted) : [],
        sources: isOfSystem ? [] : sources,
        proxy: inventory.proxy,
      };
      await on(host).job('packages', installation(target, request));
    },
  };
}

/** Installs packages in one transaction and one job. One change lists all that are missing. */
export const packages = (
  name: string,
  wanted: (about: Unobserved) => WantedPackages,
  options: PackageOptions = {},
): Step => ({
  name,
  watches: (about) => ({
    ...RESTART_WATCHES,
    packages: [
      ...Object.keys(wanted(about)),
      ...(options.sources ?? []).flatMap((id) => {
        const runtime = runtimeOfSource(id);
        return runtime === undefined ? [] : systemRuntimePackages(runtime);
      }),
    ],
  }),
  diff: (target) => {
    const change = pendingChange(target, wanted(target), options);
    return change === undefined ? [] : [change];
  },
});

/** Finishes an interrupted package transaction: the package manager refuses the next one before. */
export const packagesWhole: Step = {
  name: 'packages-whole',
  watches: RESTART_WATCHES,
  diff: (target) => {
    const { inventory, host, facts } = target;
    return facts.brokenPackages.length === 0
      ? []
      : [
          {
            // The scripts of the packages may restart a service.
            ...installationRestarts(target, [inventory.runtime.package]),
            summary:
              'finish an interrupted installation (found ' +
              `${facts.brokenPackages.map(({ name, state }) => `${name} ${state}`).join(', ')})`,
            apply: async (on) => {
              const nothing = { packages: {}, optional: [], hold: [], sources: [], proxy: inventory.proxy };
              await on(host).job('packages', installation(target, nothing));
            },
          },
        ];
  },
};
