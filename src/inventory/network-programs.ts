import { windowsPaths } from '../paths.ts';

/** A program of the network of Windows hosts that no release of Kubernetes has. */
export interface NetworkProgram {
  readonly file: string;
  /** Where it lies on the host. */
  readonly path: string;
}

const plugin = (file: string): NetworkProgram => ({ file, path: `${windowsPaths.cniBin}\\${file}` });

/** flanneld and the CNI plugins that a backend of flannel needs on Windows hosts where they are no pods. */
export const networkPrograms = (backend: 'vxlan' | 'host-gw'): readonly NetworkProgram[] => [
  { file: 'flanneld.exe', path: `${windowsPaths.programs}\\flanneld.exe` },
  plugin('flannel.exe'),
  plugin('host-local.exe'),
  plugin(backend === 'vxlan' ? 'sdnoverlay.exe' : 'win-bridge.exe'),
];
