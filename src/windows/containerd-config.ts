import { stringify } from 'smol-toml';
import type { WindowsHost } from '../model/inventory.ts';
import { windowsPaths } from '../paths.ts';
import { compareVersions } from '../versions.ts';

/**
 * The complete configuration of containerd 2.x on a Windows host (file version 3). It lists no runtimes: containerd
 * defines runhcs-wcow-process and runhcs-wcow-hypervisor itself. From 2.1 on, `bin_dirs` replaces `bin_dir`. If both
 * are set, containerd does not start.
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
