import { stringify } from 'smol-toml';
import type { WindowsHost } from '../model/inventory.ts';
import { windowsPaths } from '../paths.ts';
import { compareVersions } from '../versions.ts';

/**
 * containerd's whole configuration on a Windows host (version 3, for 2.x). Runtimes are left to containerd, which brings
 * runhcs-wcow-process and runhcs-wcow-hypervisor itself. `bin_dirs` is 2.1's; with both, containerd does not start.
 */
export function windowsContainerdConfig({ windows }: WindowsHost): string {
  const bin = windowsPaths.cniBin;
  const cni = compareVersions(windows.containerd.version, '2.1.0') >= 0 ? { bin_dirs: [bin] } : { bin_dir: bin };
  return stringify({
    version: 3,
    root: `${windowsPaths.containerdData}\\root`,
    state: `${windowsPaths.containerdData}\\state`,
    grpc: { address: windowsPaths.containerdPipe },
    plugins: {
      'io.containerd.cri.v1.images': {
        pinned_images: { sandbox: windows.pauseImage },
        registry: { config_path: windowsPaths.certsD },
      },
      'io.containerd.cri.v1.runtime': { cni: { ...cni, conf_dir: windowsPaths.cniConfig } },
    },
  });
}
