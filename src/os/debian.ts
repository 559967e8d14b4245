import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import type { Os } from './os.ts';

const apt: Pick<Os, 'installPackages' | 'releasePackages' | 'fetch'> = {
  installPackages: ({ packages, optional, hold, sources }) =>
    script('debian/install-packages.sh', {
      PACKAGES: Object.entries(packages).map(([name, version]) => `${name} ${version}`),
      OPTIONAL: optional,
      HOLD: hold,
      SOURCES: sources,
    }),
  releasePackages: (names) => sh`apt-mark unhold ${names}`,
  fetch: (url) => script('debian/fetch.sh', { URL: url }),
};

export const debian: Os = { id: 'debian', name: 'Debian', versions: ['12', '13'], ...apt };

export const ubuntu: Os = { id: 'ubuntu', name: 'Ubuntu', versions: ['22.04', '24.04'], ...apt };
