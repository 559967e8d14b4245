import { containerRuntime } from '../components/runtimes/index.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import type { PackageState } from '../facts/linux/packages.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { Watches } from '../facts/watched.ts';
import { osOf } from '../os/index.ts';

/**
 * Package → version without the distribution's suffix (`1.36.3`), or `any`; a function where the version depends on
 * what was observed.
 */
export type WantedPackages = Readonly<Record<string, string | ((target: Target) => string)>>;

/** How packages are installed. */
export interface PackageOptions {
  /** `held`: an upgrade of the system leaves them alone. Default `free`. */
  readonly upgrades?: 'held' | 'free';
  /** Installed along when a repository has them; never a reason for a change. */
  readonly optional?: readonly string[];
  /** Repository files that have the packages; default: all. */
  readonly sources?: readonly string[];
}

/**
 * Does the version of an installed package mean the wanted upstream version? `1.36.3` is `1.36.3-1.1`,
 * `5:2.2.9-1~debian.12~bookworm` is `2.2.9`, `1.7.24~ds1-6` is `1.7.24`; `1.36.30` and `1.36.3~rc1` are not `1.36.3`.
 */
export function isVersion(installed: string, wanted: string): boolean {
  if (wanted === 'any' || installed === wanted) return true;
  const upstream = installed.replace(/^\d+:/, '');
  return upstream.startsWith(wanted) && /^($|[-+]|~ds)/.test(upstream.slice(wanted.length));
}

/** Packages whose scripts restart what they install, besides the runtime's. */
const RESTARTING: ReadonlySet<string> = new Set(['kubelet', 'haproxy', 'keepalived']);

const BALANCER_UNITS = ['haproxy', 'keepalived'];

/** What `installationRestarts` asks about. */
export const RESTART_WATCHES: Watches = { units: BALANCER_UNITS };

/** True for a host on which something runs that others depend on: a kubelet that has joined, or a load balancer. */
const isLivedOn = ({ facts }: Target): boolean =>
  hasKubelet(facts) || BALANCER_UNITS.some((unit) => facts.services.get(unit)?.active === 'active');

/** What installing these packages restarts that the host, or others, live on. A part of them goes with all of them. */
export function installationRestarts(target: Target, names: readonly string[]): Pick<Change, 'disrupts' | 'restarts'> {
  const { inventory, host } = target;
  const units = names.flatMap((name) =>
    name === inventory.runtime.package ? [containerRuntime(inventory).unit] : RESTARTING.has(name) ? [name] : [],
  );
  if (units.length === 0 || !isLivedOn(target)) return { disrupts: false };
  return {
    disrupts: true,
    restarts: units.map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.service })),
  };
}

const found = (state: PackageState | undefined): string =>
  state === undefined ? 'none' : state.state === 'half' ? `${state.version} half installed` : state.version;

function pendingChange(target: Target, all: WantedPackages, options: PackageOptions): Change | undefined {
  const { facts, host } = target;
  const wanted = Object.fromEntries(
    Object.entries(all).map(([name, version]) => [name, typeof version === 'function' ? version(target) : version]),
  );
  const missing: string[] = [];
  const loose: string[] = [];
  for (const [name, version] of Object.entries(wanted)) {
    const state = facts.packages.get(name);
    if (state?.state !== 'installed' || !isVersion(state.version, version))
      missing.push(`${name}${version === 'any' ? '' : ` ${version}`} (found ${found(state)})`);
    else if (options.upgrades === 'held' && !state.held) loose.push(`${name} (found ${state.version}, not held)`);
  }
  if (missing.length === 0 && loose.length === 0) return undefined;
  const summary = [
    ...(missing.length > 0 ? [`install ${missing.join(', ')}`] : []),
    ...(loose.length > 0 ? [`hold ${loose.join(', ')}`] : []),
  ].join('; ');
  return {
    summary,
    ...installationRestarts(target, missing.length > 0 ? Object.keys(wanted) : []),
    apply: async (on) => {
      const request = {
        packages: wanted,
        optional: options.optional ?? [],
        hold: options.upgrades === 'held' ? Object.keys(wanted) : [],
        sources: options.sources ?? [],
      };
      await on(host).job('packages', osOf(host, facts).installPackages(request));
    },
  };
}

/** Packages, installed by one transaction in one job: one change lists all that are missing. */
export const packages = (
  name: string,
  wanted: (about: Unobserved) => WantedPackages,
  options: PackageOptions = {},
): Step => ({
  name,
  watches: (about) => ({ ...RESTART_WATCHES, packages: Object.keys(wanted(about)) }),
  diff: (target) => {
    const change = pendingChange(target, wanted(target), options);
    return change === undefined ? [] : [change];
  },
});
