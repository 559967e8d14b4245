import * as z from 'zod';
import { image, sha256, text, url, version } from './formats.ts';

const quantity = () => text(/^[1-9]\d{0,5}(?:Mi|Gi)$/, 'an amount of memory, e.g. "1Gi" or "1536Mi"');

const folder = (what: string, preset: string) =>
  url()
    .exactOptional()
    .meta({
      description: `Folder that holds ${what}; {version} stands for the version. Default: ${preset}.`,
    });

/** Where the programs of Windows hosts are published. */
export const WINDOWS_DOWNLOADS = {
  kubernetes: 'https://dl.k8s.io/v{version}/bin/windows/amd64',
  containerd: 'https://github.com/containerd/containerd/releases/download/v{version}',
  crictl: 'https://github.com/kubernetes-sigs/cri-tools/releases/download/v{version}',
} as const;

const downloads = z
  .strictObject({
    via: z.enum(['host', 'operator']).exactOptional().meta({
      description:
        'host: the host fetches programs itself. operator: this machine does and sends them over SSH. Default: host.',
    }),
    kubernetes: folder('kubelet.exe and the like', WINDOWS_DOWNLOADS.kubernetes),
    containerd: folder('the archive of containerd', WINDOWS_DOWNLOADS.containerd),
    crictl: folder('the archive of crictl', WINDOWS_DOWNLOADS.crictl),
    nssm: folder('nssm.exe', 'none, nssm is published as an archive; put nssm.exe on a server of yours'),
    network: folder(
      'flanneld.exe and the CNI plugins, for network.windows.services',
      'none, they are published as archives; put them on a server of yours',
    ),
    sha256: z
      .record(z.string(), sha256())
      .exactOptional()
      .meta({
        examples: [{ 'kubelet.exe': '0123456789abcdef'.repeat(4) }],
        description:
          'SHA-256 by file name, e.g. kubelet.exe. Default: what lies beside the file at its source. Those of ' +
          'nssm.exe and of downloads.network must be here.',
      }),
  })
  .exactOptional()
  .meta({ description: 'Where programs come from.' });

/** `windows:` of the inventory or of a host; defaults are filled in by `windows.ts`. */
export const windows = z
  .strictObject({
    containerd: z
      .strictObject({ version: version().exactOptional().meta({ description: 'Default: "2.3.5".' }) })
      .exactOptional()
      .meta({ description: 'The container runtime of Windows hosts.' }),
    crictl: z
      .strictObject({
        version: version().exactOptional().meta({ description: 'Default: the first release of the Kubernetes minor.' }),
      })
      .exactOptional()
      .meta({ description: "The runtime's command line tool." }),
    pauseImage: image()
      .exactOptional()
      .meta({
        description:
          'Image that holds a pod together; it must be made for the build. Default: pause:3.10.2 of ' +
          'kubernetes.imageRepository.',
      }),
    serviceManager: z.enum(['native', 'nssm']).exactOptional().meta({
      description: 'What runs the kubelet as a service: Windows itself, or nssm. Default: native.',
    }),
    hyperv: z.enum(['off', 'on']).exactOptional().meta({
      description: 'on: the Hyper-V feature is installed too, for Hyper-V isolation (experimental). Default: off.',
    }),
    allowReboot: z.boolean().exactOptional().meta({
      description: 'False: a restart that a Windows feature needs is left to you. Default: true.',
    }),
    allowUnsupportedOs: z.boolean().exactOptional().meta({
      description: 'True: another Windows than Server 2022 or 2025 is only warned about. Default: false.',
    }),
    reserved: z
      .strictObject({
        system: quantity().exactOptional().meta({ description: 'For Windows. Default: "1Gi".' }),
        kube: quantity().exactOptional().meta({ description: 'For kubelet and runtime. Default: "1Gi".' }),
      })
      .exactOptional()
      .meta({ description: 'Memory that pods do not get; together 2 GiB or more.' }),
    downloads,
  })
  .prefault({})
  .meta({ description: 'How Windows hosts are built.' });
