import type { NetworkPlugin } from './network-plugin.ts';

/** kbuild installs no network plugin: the user does, and kbuild knows nothing about it. */
export const none: NetworkPlugin<'none'> = {
  name: 'none',
  title: 'none',
  isSupported: true,
  agent: undefined,
  namespaces: [],
  files: [],
  // Matches no name.
  interfaces: /^$/,
  interfaceNames: [],
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
