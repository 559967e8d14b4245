import * as z from 'zod';
import type { Rollout, TimeSync } from '../host-settings.ts';
import { address, image, localPath, sha256, text, url, version } from './formats.ts';

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `90s`, `10m` or `1h` in ms. */
const durationMs = (text: string): number =>
  Number(text.slice(0, -1)) * UNITS_MS[text.slice(-1) as keyof typeof UNITS_MS];

/** A run holds its locks while it pauses. */
const LONGEST_PAUSE = '24h';

/** `rollout:` */
export const rollout = z
  .strictObject({
    maxUnavailable: z
      .union([
        z.number().int().min(1).max(10_000),
        text(/^(?:[1-9]\d?|100)%$/, 'a number of workers, or a share of them, e.g. "20%"'),
      ])
      .default('10%')
      .meta({
        description:
          'How many workers may be without their kubelet or runtime, or drained, at once: a number, or a share, rounded down; at least one. Control planes change one at a time whatever it says.',
      }),
    drainTimeout: text(/^[1-9]\d{0,4}[smh]$/, 'seconds, minutes or hours, e.g. "10m"')
      .default('5m')
      .meta({
        description:
          'How long the drain of a node may take. A drain that takes longer fails, and the node takes pods again.',
      }),
    pause: text(/^\d{1,5}[smh]$/, 'seconds, minutes or hours, e.g. "10m"')
      .refine((pause) => durationMs(pause) <= durationMs(LONGEST_PAUSE), {
        error: `must be at most ${LONGEST_PAUSE}`,
      })
      .default('0s')
      .meta({
        description:
          'How long a run waits between two batches of workers, after the first is well and before the next is drained or disrupted. Then it observes again. At most 24h. Control planes do not wait.',
      }),
  })
  .prefault({})
  .meta({
    description: 'How changes go from node to node; --max-unavailable and --drain-timeout of a command win over it.',
  });

/** The setting as a value. */
export function rolloutOf({ maxUnavailable, drainTimeout, pause }: z.output<typeof rollout>): Rollout {
  return {
    maxUnavailable:
      typeof maxUnavailable === 'number'
        ? { workers: maxUnavailable }
        : { percent: Number(maxUnavailable.slice(0, -1)) },
    drainTimeoutMs: durationMs(drainTimeout),
    pauseMs: durationMs(pause),
  };
}

/** `installFrom:` of the inventory, a role, a group or a host. */
export const installFrom = z.enum(['distribution', 'binaries']).meta({
  description:
    'Where the programs of Kubernetes and of its runtime come from on Linux hosts; the nearest wins: host, groups, role, all. distribution: packages, and binaries where the system has no packages (Flatcar). binaries: the programs that their projects publish, see downloads.',
});

/** `packages:` of the inventory, a role, a group or a host. */
export const packages = () =>
  z
    .array(text(/^[A-Za-z0-9][A-Za-z0-9+._-]*$/, 'the name of a package'))
    .default([])
    .meta({
      examples: [['nfs-common']],
      description:
        'Packages that Linux hosts must have, from their own repositories, in any version; those of all levels together. Those that you take out stay installed.',
    });

/** `trustedCAs:` of the inventory, a role, a group or a host. */
export const trustedCAs = () =>
  z
    .array(localPath())
    .default([])
    .meta({
      examples: [['ca/company.pem']],
      description:
        "PEM files, each with one certificate authority that Linux hosts trust, besides those of their system; those of all levels together. kbuild puts them into the system's store, and takes them out when they leave the inventory.",
    });

const service = () => z.enum(['unmanaged', 'chrony']);

/** `timeSync:` of the inventory, a role, a group or a host. */
export const timeSync = z
  .union([
    z.strictObject({
      kind: service().default('chrony').meta({ description: 'As timeSync alone.' }),
      servers: z
        .array(address())
        .max(32)
        .default([])
        .meta({
          examples: [['ntp1.example.com', '10.0.0.5']],
          description:
            'chrony: names or addresses of time servers, besides those in the configuration of the host itself, which stay.',
        }),
    }),
    service(),
  ])
  .meta({
    examples: ['chrony'],
    description:
      'What keeps the clock of Linux hosts right; the nearest wins as a whole: host, groups, role, all. unmanaged: what the host has; the check time-sync warns if that is nothing. chrony: `up` installs it from the repositories of the system, and starts it; it takes the place of systemd-timesyncd. chrony alone stands for timeSync.kind. Default: unmanaged.',
  });

/** The setting as a value; undefined if kbuild leaves the time service alone. */
export function timeSyncOf(setting: z.output<typeof timeSync> | undefined): TimeSync | undefined {
  const { kind, servers } =
    typeof setting === 'object' ? setting : { kind: setting ?? 'unmanaged', servers: [] as readonly string[] };
  return kind === 'chrony' ? { kind, servers: [...new Set(servers)] } : undefined;
}

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
          'SHA-256 by file name, e.g. kubelet.exe. Default: what lies beside the file at its source. Those of nssm.exe and of downloads.network must be here.',
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
    pauseImage: image().exactOptional().meta({
      description:
        'Image that holds a pod together; it must be made for the build. Default: pause:3.10.2 of kubernetes.imageRepository.',
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
