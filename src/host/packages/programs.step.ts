import type { Change, Step, Target } from '../../engine/step.ts';
import { Refused } from '../../errors.ts';
import { OWN_HEADER, paths } from '../../paths.ts';
import { containerRuntime } from '../../runtime/runtimes.value.ts';
import { render } from '../../templates.ts';
import { fileChanges } from '../file.step.ts';
import { installPrograms } from './binaries.value.ts';
import type { Distribution } from './distribution.value.ts';
import { distributionOf, knownDistribution } from './distributions.value.ts';
import { getsBinaries, isBuiltIn } from './installer.value.ts';
import type { RepositoryId } from './package-manager.value.ts';
import { installationRestarts, RESTART_WATCHES } from './packages.step.ts';
import { runtimePrograms } from './sources.value.ts';

/** The distribution of a host to which programs of this source come without packages; undefined for any other. */
const withoutPackages = (target: Target, source: RepositoryId): Distribution | undefined =>
  getsBinaries(target) && !isBuiltIn(target, [source]) ? knownDistribution(target.facts) : undefined;

const rendered = (template: string, { programFolder, kubeletArguments }: Distribution): string =>
  render(template, { header: OWN_HEADER, folder: programFolder, arguments: kubeletArguments });

/** A file that a package of Kubernetes would bring. */
const kubernetesFile = (name: string, path: string, template: string): Step => ({
  name,
  watches: { files: [path] },
  diff: (target) => {
    const distribution = withoutPackages(target, 'kubernetes');
    return distribution === undefined ? [] : fileChanges(target, { path, content: rendered(template, distribution) });
  },
});

/** The units that the packages of Kubernetes would bring, and the PATH of logins. */
export const kubeletUnit: readonly Step[] = [
  kubernetesFile('program-path', paths.programPath, 'host/packages/kbuild-path.sh'),
  kubernetesFile('kubelet-unit', paths.kubeletUnit, 'host/packages/kubelet.service'),
  kubernetesFile('kubelet-drop-in', paths.kubeletDropIn, 'host/packages/10-kubeadm.conf'),
];

/**
 * The unit that the package of the runtime would bring, or a drop-in for the unit of a runtime that the system brings.
 */
export const runtimeUnit: Step = {
  name: 'runtime-unit',
  watches: ({ inventory }) => {
    const { published } = containerRuntime(inventory);
    return { files: published === undefined ? [] : [published.unit.path, published.builtIn.path] };
  },
  diff: (target) => {
    const { name, published } = containerRuntime(target.inventory);
    if (published === undefined) return [];
    const { unit, builtIn } = published;
    if (isBuiltIn(target, [name]))
      return fileChanges(target, { path: builtIn.path, content: `${OWN_HEADER}.\n${builtIn.content}` });
    const distribution = withoutPackages(target, name);
    if (distribution === undefined) return [];
    return fileChanges(target, { path: unit.path, content: rendered(unit.template, distribution) });
  },
};

/** Units of the runtime's programs that are on the host and that kbuild did not write: it leaves those alone. */
export function foreignUnits({ inventory, facts }: Pick<Target, 'inventory' | 'facts'>): readonly string[] {
  const units = (containerRuntime(inventory).paths.units ?? []).map(({ path }) => path);
  return units.filter((path) => facts.files.get(path)?.kind === 'file' && !facts.ownFiles.includes(path));
}

/** The remedy for such a unit. */
export const moveUnit = (path: string): string =>
  `if kbuild is to run it, move the unit away: mv ${path} ${path}.before, then kbuild up`;

/** The units that kbuild writes for programs of the runtime, on every system. */
export const programUnits = (name: string): Step => ({
  name,
  watches: ({ inventory }) => ({ files: (containerRuntime(inventory).paths.units ?? []).map(({ path }) => path) }),
  diff: (target) => {
    const distribution = knownDistribution(target.facts);
    if (distribution === undefined) return [];
    const units = containerRuntime(target.inventory).paths.units ?? [];
    const foreign = foreignUnits(target);
    return units.flatMap(({ template, path }): readonly Change[] => {
      if (!foreign.includes(path)) return fileChanges(target, { path, content: rendered(template, distribution) });
      const refused = new Refused(
        'foreign-file',
        target.host.name,
        `${path} is there, and kbuild did not write it`,
        moveUnit(path),
      );
      return [{ summary: `write ${path} (found one that is not kbuild's)`, apply: () => Promise.reject(refused) }];
    });
  },
});

/**
 * Installs the programs that the runtime needs beside its packages, as their projects publish them. A package of the
 * same name that the system has stays: its program lies in another folder.
 */
export const programsOfRuntime = (name: string): Step => ({
  name,
  watches: ({ inventory }) => ({ ...RESTART_WATCHES, packages: Object.keys(runtimePrograms(inventory)) }),
  diff: (target) => {
    const { inventory, host, facts } = target;
    return Object.entries(runtimePrograms(inventory)).flatMap(([program, version]) => {
      const found = facts.packages.get(program);
      const own = found?.from === 'binaries' ? found : undefined;
      if (own?.state === 'installed' && own.version === version) return [];
      const state = own === undefined ? 'none' : own.state === 'half' ? `${own.version} half installed` : own.version;
      return [
        {
          summary: `install ${program} ${version} (found ${state})`,
          ...installationRestarts(target, [program]),
          apply: async (on) => {
            const request = {
              ...{ packages: { [program]: version }, optional: [], hold: [], sources: [] },
              proxy: inventory.proxy,
            };
            await on(host).job('packages', installPrograms(target, distributionOf(host, facts), request));
          },
        },
      ];
    });
  },
});

/** The folder in which the kubelet of a host is. */
export const kubeletFolder = (target: Target): string =>
  getsBinaries(target) ? (knownDistribution(target.facts)?.programFolder ?? '/usr/bin') : '/usr/bin';
