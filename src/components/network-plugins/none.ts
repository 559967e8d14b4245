import type { NetworkPlugin } from './network-plugin.ts';

/** No network plugin of kbuild: the user installs one, and kbuild knows nothing of it. */
export const none: NetworkPlugin<'none'> = {
  name: 'none',
  title: 'none',
  isSupported: true,
  agent: undefined,
  namespaces: [],
  files: [],
  // Matches no name.
  interfaces: /^$/,
  chains: [],
  ofNode: { interfaces: [], files: [] },
  owns: {},
  windows: undefined,
  vxlanPort: () => undefined,
  overheadBytes: () => 0,
  ports: () => [],
  images: () => [],
  leaves: () => ({ interfaces: /^$/, blackholes: false }),
};
