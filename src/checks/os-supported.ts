import { knownOs, supportedOs } from '../os/index.ts';
import { eachHost } from './each-host.ts';

const SUPPORTED = knownOs.map(({ name, versions }) => `${name} ${versions.join(', ')}`).join('; ');

/** kbuild knows how the distribution installs packages. */
export const osSupported = eachHost(
  {
    name: 'os-supported',
    title: 'the distribution is Debian 12 or 13, Ubuntu 22.04 or 24.04',
    why: `kbuild knows how these install packages. Rocky Linux 9 and 10 and openSUSE are observed, and refused as not yet supported.`,
    severities: ['error'],
  },
  ({ facts }) =>
    supportedOs(facts) !== undefined
      ? []
      : [
          {
            severity: 'error',
            message: `${facts.osRelease.prettyName} is not yet supported`,
            remedy: `use one of: ${SUPPORTED}`,
          },
        ],
);
