import { type CheckGroup, eachWindowsHost } from '../engine/check.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { windowsPaths } from '../paths.ts';

/** Server 2019 and older have no bindflt: the mounts of a HostProcess pod are not where the pods of kbuild look. */
const FIRST_WITH_BINDFLT = 20_000;

/** Builds of Windows Server 2022 and 2025, which Kubernetes supports (source: its documentation). */
const SUPPORTED: ReadonlySet<string> = new Set(['20348', '26100']);

const windowsBuild = eachWindowsHost(
  {
    name: 'windows-build',
    title: 'the host runs Windows Server 2022 or 2025',
    why:
      'Kubernetes supports these builds, and containers only run on the build that they were made for. ' +
      '`windows.allowUnsupportedOs: true` lowers another Windows Server to a warning. On Server 2019 only ' +
      '`network.windows.services: true` is possible, because mounts of HostProcess pods are elsewhere there. A ' +
      'Windows that is no server has no container features at all.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }) => {
    const { build, caption, productType } = facts.machine;
    if (productType === 1)
      return [
        { severity: 'error', message: `runs ${caption}, which is no server`, remedy: 'install Windows Server 2025' },
      ];
    if (SUPPORTED.has(build)) return [];
    const network = inventory.network.windows;
    if (host.windows.allowUnsupportedOs && Number(build) < FIRST_WITH_BINDFLT && network?.services === false)
      return [
        {
          severity: 'error',
          message:
            `runs ${caption} (build ${build}), on which the network cannot run in pods: it has no bindflt, so ` +
            'their files are elsewhere',
          remedy:
            networkPlugin(inventory).windows?.services.length === 0
              ? 'install Windows Server 2025, or take a network plugin that can be services ' +
                '(network.windows.services: true)'
              : 'set network.windows.services: true, or install Windows Server 2025',
        },
      ];
    return [
      {
        severity: host.windows.allowUnsupportedOs ? 'warning' : 'error',
        message: `runs ${caption} (build ${build}); Kubernetes supports Server 2022 (20348) and 2025 (26100)`,
        remedy: 'install Windows Server 2025, or set windows.allowUnsupportedOs: true',
      },
    ];
  },
);

const PROGRAM = 'containerd.exe';
const PATH = `${windowsPaths.containerd}\\${PROGRAM}`;

const windowsDefender = eachWindowsHost(
  {
    name: 'windows-defender',
    title: 'Defender leaves containerd alone, where it runs',
    why:
      'Defender looks into every file that containerd unpacks: images of Windows are gigabytes, and their first ' +
      'start takes minutes longer. Nothing breaks, so this is only a warning; kbuild changes nothing about ' +
      'Defender, because excluding a program is a decision of your security people.',
    severities: ['warning'],
  },
  ({ facts }) => {
    if (facts.defender === 'absent' || facts.defender === 'off') return [];
    const excluded = facts.defender.map((name) => name.toLowerCase());
    if ([PROGRAM, PATH].some((name) => excluded.includes(name.toLowerCase()))) return [];
    return [
      {
        severity: 'warning',
        message: `Defender looks into every file that ${PROGRAM} unpacks`,
        remedy: `Add-MpPreference -ExclusionProcess '${PATH}'`,
      },
    ];
  },
);

const DISK_NEEDED_MIB = 15 * 1024;
const DISK_ADVISED_MIB = 50 * 1024;

const windowsDisk = eachWindowsHost(
  {
    name: 'windows-disk',
    title: 'the system drive is NTFS and has room for images',
    why: 'An image of Windows takes gigabytes, and containerd lays its layers only on NTFS.',
    severities: ['error', 'warning'],
  },
  ({ facts }) => {
    const { freeMiB, fileSystem } = facts.volume;
    const free = `has ${String(Math.floor(freeMiB / 1024))} GiB free on C:`;
    return [
      ...(fileSystem === 'NTFS'
        ? []
        : [{ severity: 'error' as const, message: `has ${fileSystem} on C:, and NTFS is needed` }]),
      ...(freeMiB < DISK_NEEDED_MIB
        ? [{ severity: 'error' as const, message: `${free}, and ${String(DISK_NEEDED_MIB / 1024)} are needed` }]
        : freeMiB < DISK_ADVISED_MIB
          ? [{ severity: 'warning' as const, message: `${free}, and ${String(DISK_ADVISED_MIB / 1024)} are advised` }]
          : []),
    ];
  },
);

const windowsDocker = eachWindowsHost(
  {
    name: 'windows-docker',
    title: 'no Docker runs beside containerd',
    why:
      'Docker brings HNS networks and a containerd of its own, and tools that look for a runtime find two. ' +
      "kbuild always names containerd's pipe, so this is only a warning.",
    severities: ['warning'],
    watches: { units: ['docker'] },
  },
  ({ facts }) =>
    facts.services.has('docker')
      ? [
          {
            severity: 'warning',
            message: 'has the service docker',
            remedy: 'remove Docker, or take the machine for nothing else',
          },
        ]
      : [],
);

const windowsFeatures = eachWindowsHost(
  {
    name: 'windows-features',
    title: 'the Windows feature Containers is there',
    why:
      '`up` installs it and restarts the host, before it joins; with `windows.allowReboot: false` you restart ' +
      'it. It is found missing only on a server; no other Windows has it.',
    severities: ['due', 'error'],
  },
  ({ facts }) => {
    if (facts.features === 'none')
      return [{ severity: 'error', message: 'has no Windows features to install: it is no server' }];
    const state = facts.features.get('Containers');
    if (state === 'Installed') return [];
    if (state === 'Removed')
      return [
        {
          severity: 'error',
          message: 'the files of the feature Containers were removed from this Windows',
          remedy: 'Install-WindowsFeature Containers -Source PATH, with the installation medium',
        },
      ];
    return [
      {
        severity: 'due',
        message:
          'the Windows feature Containers is ' +
          (state === 'InstallPending' ? 'waiting for a restart' : 'not installed'),
      },
    ];
  },
);

const CPUS = 4;
/** kbuild reserves 2 GiB for Windows. With less memory than this, no pod fits. */
const MEMORY_NEEDED_MIB = 3500;
const MEMORY_ADVISED_MIB = 7500;

const windowsHardware = eachWindowsHost(
  {
    name: 'windows-hardware',
    title: 'a Windows host has four CPUs, 8 GiB of memory and a page file',
    why:
      'Windows itself takes 2 GiB, and every Windows container is larger than a Linux one. Windows has no limit ' +
      'that kills a pod for its memory: without a page file it stalls, or ends processes at random. That is a ' +
      'warning and no error: Kubernetes starts there, and a host whose pods stay below its memory works.',
    severities: ['error', 'warning'],
  },
  ({ facts }) => {
    const { cpus, memoryMiB, pageFileMiB } = facts.machine;
    return [
      ...(cpus < CPUS
        ? [{ severity: 'warning' as const, message: `has ${String(cpus)} CPUs, and ${String(CPUS)} are advised` }]
        : []),
      ...(memoryMiB < MEMORY_NEEDED_MIB
        ? [
            {
              severity: 'error' as const,
              message: `has ${String(memoryMiB)} MiB of memory, and ${String(MEMORY_NEEDED_MIB)} are needed`,
            },
          ]
        : memoryMiB < MEMORY_ADVISED_MIB
          ? [
              {
                severity: 'warning' as const,
                message: `has ${String(memoryMiB)} MiB of memory, and ${String(MEMORY_ADVISED_MIB)} are advised`,
              },
            ]
          : []),
      ...(pageFileMiB === 0
        ? [{ severity: 'warning' as const, message: 'has no page file', remedy: 'let Windows manage one on C:' }]
        : []),
    ];
  },
);

const windowsPendingReboot = eachWindowsHost(
  {
    name: 'windows-pending-reboot',
    title: 'no restart of Windows is pending',
    why:
      'Updates that are half installed make features and services behave oddly. Restart the host; kbuild does it ' +
      'itself only where a feature needs it, and never on a host that has joined.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.pendingReboot.length === 0
      ? []
      : [
          {
            severity: 'warning',
            message: `waits for a restart (${facts.pendingReboot.join(', ')})`,
            remedy: 'Restart-Computer',
          },
        ],
);

export const windowsMachineChecks: CheckGroup = {
  windows: [
    windowsBuild,
    windowsHardware,
    windowsDisk,
    windowsFeatures,
    windowsPendingReboot,
    windowsDocker,
    windowsDefender,
  ],
};
