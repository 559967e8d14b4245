import { knownDistribution } from '../components/distributions/index.ts';
import { getsBinaries, isBuiltIn } from '../components/programs/installer.ts';
import { goArchitecture, programFiles, runtimePrograms } from '../components/programs/sources.ts';
import { containerRuntime } from '../components/runtimes/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

const OTHER = 'give the host another runtime.name';

/** Why no package brings the runtime to the host; undefined if one does. */
function withoutPackage({ inventory, host, facts }: HostSeen): HostFinding | undefined {
  const { name, title, published } = containerRuntime(inventory);
  const distribution = knownDistribution(facts);
  if (distribution === undefined || isBuiltIn({ facts }, [name])) return undefined;
  if (distribution.packages === undefined && published === undefined)
    return {
      severity: 'error',
      message: `${title} comes as packages only, and ${distribution.name} has none`,
      remedy: OTHER,
    };
  if (getsBinaries({ host, facts }) && published === undefined)
    return {
      severity: 'error',
      message: `${title} comes as packages only, and the host gets binaries`,
      remedy: `${OTHER}, or take installFrom: binaries away`,
    };
  if (!getsBinaries({ host, facts }) && distribution.lacks?.includes(name) === true)
    return {
      severity: 'error',
      message: `${title} is not published for ${distribution.name}`,
      remedy: OTHER,
    };
  return undefined;
}

/** Programs beside the package of which no SHA-256 is known for the host's architecture. */
function unproved({ inventory, facts }: HostSeen): readonly HostFinding[] {
  const place = { architecture: goArchitecture(facts.arch), folder: '' };
  return Object.entries(runtimePrograms(inventory))
    .filter(([name, version]) => facts.binaries.get(name)?.version !== version)
    .flatMap(([name, version]) => programFiles(inventory, place, name, version))
    .filter(({ proof }) => typeof proof === 'string')
    .map(({ url, proof }) => ({
      severity: 'error' as const,
      message:
        proof === 'plain'
          ? `the inventory names no SHA-256 of ${url}, and it comes over plain http`
          : `the inventory names no SHA-256 of ${url}, and its project publishes none`,
      remedy: 'download the file, compare it with what its project says, and name its SHA-256 below downloads.sha256',
    }));
}

export const runtimeSource = eachHost(
  {
    name: 'runtime-source',
    title: 'the container runtime of the host is published for its system and architecture',
    why: 'Not every project publishes its container runtime for every system and in every form ([hosts](hosts.md)). Each host and each group can have a runtime of its own ([runtimes](runtimes.md)). Where the project of a program publishes no checksums, the inventory must name them: kbuild installs nothing that it has not compared.',
    severities: ['error'],
  },
  (seen) => {
    // A host that has joined has its runtime.
    if (seen.host.role === 'load-balancer' || hasKubelet(seen.facts)) return [];
    const finding = withoutPackage(seen);
    return finding === undefined ? unproved(seen) : [finding];
  },
);
