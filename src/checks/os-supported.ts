import { knownOs, supportedOs } from '../os/index.ts';
import { eachHost } from './each-host.ts';

const SUPPORTED = knownOs.map(({ name, versions }) => `${name} ${versions.join(', ')}`).join('; ');

/** kbuild knows how the distribution installs packages. */
export const osSupported = eachHost('os-supported', ({ facts }) =>
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
