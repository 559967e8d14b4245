import { minorOf } from '../../versions.ts';
import type { HostEntry, InventoryFile } from '../schema/schema.ts';
import { WINDOWS_DOWNLOADS } from '../schema/windows.ts';
import type { WindowsDownloads, WindowsSettings } from '../windows-settings.ts';

type Entry = HostEntry['windows'];

/** The containerd that is put on Windows hosts: 2.3 is its long-term line, and knows the pause image of Server 2025. */
const CONTAINERD = '2.3.5';

/** The pause image that has a variant for Server 2025 (kubernetes#136960). */
const PAUSE_TAG = '3.10.2';

const filled = (url: string, version: string): string => url.replaceAll('{version}', version).replace(/\/$/, '');

/** The settings of one Windows host: its own, else those of the inventory, else kbuild's. */
export function windowsOf(file: InventoryFile, host: Entry): WindowsSettings {
  const all = file.windows;
  const { version: kubernetes } = file.kubernetes;
  const containerd = host.containerd?.version ?? all.containerd?.version ?? CONTAINERD;
  const crictl = host.crictl?.version ?? all.crictl?.version ?? `${minorOf(kubernetes)}.0`;
  const downloads = { ...all.downloads, ...host.downloads };
  return {
    containerd: { version: containerd },
    crictl: { version: crictl },
    pauseImage: host.pauseImage ?? all.pauseImage ?? `${file.kubernetes.imageRepository}/pause:${PAUSE_TAG}`,
    serviceManager: host.serviceManager ?? all.serviceManager ?? 'native',
    hyperv: host.hyperv ?? all.hyperv ?? 'off',
    allowReboot: host.allowReboot ?? all.allowReboot ?? true,
    allowUnsupportedOs: host.allowUnsupportedOs ?? all.allowUnsupportedOs ?? false,
    reserved: {
      system: host.reserved?.system ?? all.reserved?.system ?? '1Gi',
      kube: host.reserved?.kube ?? all.reserved?.kube ?? '1Gi',
    },
    downloads: {
      via: downloads.via ?? 'host',
      // Only the cluster determines which version a host gets.
      kubernetes: filled(downloads.kubernetes ?? WINDOWS_DOWNLOADS.kubernetes, '{version}'),
      containerd: filled(downloads.containerd ?? WINDOWS_DOWNLOADS.containerd, containerd),
      crictl: filled(downloads.crictl ?? WINDOWS_DOWNLOADS.crictl, crictl),
      nssm: filled(downloads.nssm ?? '', ''),
      network: filled(downloads.network ?? '', ''),
      sha256: { ...all.downloads?.sha256, ...host.downloads?.sha256 },
    } satisfies WindowsDownloads,
  };
}
