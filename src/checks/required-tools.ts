import { knownDistribution } from '../components/distributions/index.ts';
import { eachHost } from './each-host.ts';

export const requiredTools = eachHost(
  {
    name: 'required-tools',
    title: 'mount, losetup, ip, ss, modprobe, flock, bash and a few others are installed',
    why: 'kubeadm looks for fewer with each release. Install the package that is named.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.missingTools.map((tool) => ({
      severity: 'error',
      message: `has no ${tool}`,
      remedy: `install ${knownDistribution(facts)?.toolPackages[tool] ?? `the package that brings ${tool}`}`,
    })),
);
