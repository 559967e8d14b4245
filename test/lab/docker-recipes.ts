/** Docker Engine, of Debian, and cri-dockerd, compiled from its module: made when a test asks for them. */
import type { Artifact } from './artifact.ts';
import type { Keys } from './keys.ts';
import { paths } from './paths.ts';
import type { Mirrors } from './recipes.ts';
import { VERSIONS } from './versions.ts';

/** Where the repository of Docker Engine is served, and below it cri-dockerd's archive. */
export const DOCKER_PATH = 'docker-engine';

/** The repository. `CONTAINERD`: that of containerd.io alone. */
export const dockerRepository = (
  { debian }: Mirrors,
  keys: Keys,
  needs: Readonly<Record<'CONTAINERD', Artifact>>,
): Artifact => ({
  ...{ name: 'docker-repository', recipe: 'docker-repository', shared: ['docker-index.sh'] },
  needs: {
    ...needs,
    ENGINE: {
      ...{ name: `docker-programs-${VERSIONS.docker}`, recipe: 'docker-programs' },
      params: { VERSION: VERSIONS.docker },
      settings: { MIRROR: debian },
    },
    ADAPTER: {
      ...{ name: `cri-dockerd-${VERSIONS.criDockerd}`, recipe: 'cri-dockerd', go: true },
      params: { VERSION: `v${VERSIONS.criDockerd}` },
    },
  },
  params: { KEY: keys.containerd, VERSION: VERSIONS.docker, ADAPTER_VERSION: VERSIONS.criDockerd },
  settings: { GNUPGHOME: paths.gnupg },
});
