/** Upstream's end-to-end suite and the images of its conformance specifications: made when a test asks for them. */
import type { Artifact } from './artifact.ts';
import { REGISTRY_SCRIPTS } from './published.ts';
import type { Mirrors } from './recipes.ts';
import { KUBERNETES } from './versions.ts';

const [{ version: VERSION }] = KUBERNETES;

/** The folder with the suite's program. */
export const CONFORMANCE_PATH = 'conformance';

/** Where the storage of the registry is that has the specifications' images alone. */
export const CONFORMANCE_IMAGES_PATH = 'conformance-images';

/** The suite, kubernetes `test/e2e`. */
export const conformance: Artifact = {
  name: `e2e-${VERSION}`,
  recipe: 'kubernetes-e2e',
  params: { VERSION: `v${VERSION}`, SUITE: 'e2e' },
  go: true,
};

/** The tags that the suite of that version asks for: kubernetes `test/utils/image/manifest.go`. */
const TAGS = {
  AGNHOST_TAGS: '2.55 2.63.0',
  APISERVER_TAG: '1.29.2',
  BUSYBOX_TAG: '1.37.0-1',
  DNS_TAG: '2.0.0',
  NGINX_TAGS: '1.15-4 1.27-0',
  NONEWPRIVS_TAG: '1.4',
  NONROOT_TAG: '1.5',
  UPDATE_DEMO_TAG: '1.8',
} as const;

/** The images. Those of etcd and pause are in the lab's own registry. */
export const conformanceImages = (
  { debian }: Mirrors,
  needs: Readonly<Record<'BOOTSTRAP' | 'TOOLS' | 'AGNHOST', Artifact>>,
): Artifact => ({
  ...{ name: 'conformance-images', recipe: 'conformance-images' },
  shared: [...REGISTRY_SCRIPTS, '../images/image-tools.sh'],
  params: TAGS,
  needs: {
    TOOLS: needs.TOOLS,
    AGNHOST: needs.AGNHOST,
    PROGRAMS: {
      ...{ name: `conformance-programs-${VERSION}`, recipe: 'conformance-programs', go: true },
      params: { VERSION: `v${VERSION}` },
    },
    DEBIAN_TREE: {
      ...{ name: 'conformance-tree', recipe: 'conformance-tree' },
      needs: { BOOTSTRAP: needs.BOOTSTRAP },
      settings: { MIRROR: debian },
    },
  },
});
