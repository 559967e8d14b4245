/** Stand-ins for Windows' cmdlets, for each script that observes a host without .NET. */
import type { PsValue } from '../../../src/shell/powershell.ts';
import { addService, filesOf, type Machine } from '../host/machine.ts';

/** Parameters of a command, and properties of what it returns. */
export type Properties = Readonly<Record<string, unknown>>;

/** What a cmdlet returns. */
export type Stand = (params: Properties) => unknown;

/** A script that observes, on a host that has something of everything. */
export interface Case {
  readonly params?: Readonly<Record<string, PsValue>>;
  /** What cmdlets, and functions of common.ps1 that call some, return. */
  readonly stands: Readonly<Record<string, Stand>>;
  /** Properties without which the answer is still one. */
  readonly optional?: readonly string[];
  /** How the simulated machine is, whose answer must have the same shape. */
  readonly model?: (machine: Machine) => void;
}

/** The same, whatever is asked. */
export const always =
  (value: unknown): Stand =>
  () =>
    value;
const NAMES = { params: { Names: ['a'] } };
const PATHS = { params: { Paths: ['C:\\a'] } };
const PATH = { params: { Path: 'C:\\a' } };
const command = always('a cmdlet');
const withFile = (machine: Machine): void => filesOf(machine).put('C:\\a', 'server: https://k8s.example:6443');

/** Instances of classes of Windows, by class. */
export const CIM: Readonly<Record<string, unknown>> = {
  Win32_OperatingSystem: {
    Caption: 'Server 2022',
    BuildNumber: '20348',
    ProductType: 3,
    OSArchitecture: '64-bit',
    TotalVisibleMemorySize: 8_388_608,
  },
  Win32_ComputerSystem: { Name: 'WIN1', Manufacturer: 'QEMU', Model: 'Q35', NumberOfLogicalProcessors: 4 },
  Win32_PageFileUsage: { AllocatedBaseSize: 4096 },
  Win32_Service: { Name: 'a', State: 'Running', ProcessId: 4, StartMode: 'Auto', StartName: 'LocalSystem' },
  Win32_Process: { CreationDate: 'then' },
  Win32_LogicalDisk: { FreeSpace: 53_687_091_200, FileSystem: 'NTFS' },
  Win32_EncryptableVolume: { ProtectionStatus: 1 },
};
const cim: Stand = ({ classname }) => CIM[classname as string];

/** By the name of the script. */
export const CASES: Readonly<Record<string, Case>> = {
  'probe-access.ps1': {
    ...PATHS,
    stands: { 'Test-Path': always(true), 'Get-Acl': always({ Sddl: 'O:BA' }) },
    model: withFile,
  },
  'probe-clock.ps1': { stands: { 'Get-UnixMilliseconds': always(5) } },
  'probe-defender.ps1': {
    stands: {
      'Get-Command': command,
      'Get-Service': always({ Status: 'Running' }),
      'Get-MpPreference': always({ ExclusionProcess: ['a.exe'] }),
    },
    optional: ['ExclusionProcess'],
    model: ({ extra }) => extra.set('excludedProcesses', ['a.exe']),
  },
  'probe-environment.ps1': { params: { Names: ['OS'] }, stands: { 'Get-MachineEnvironment': always('Windows_NT') } },
  'probe-features.ps1': {
    params: { Names: ['Containers'] },
    stands: { 'Get-Command': command, 'Get-WindowsFeature': always({ Name: 'Containers', InstallState: 'Installed' }) },
  },
  'probe-firewall.ps1': {
    ...NAMES,
    stands: {
      'Get-NetFirewallProfile': always({ Name: 'Public', Enabled: 'True' }),
      'Get-NetFirewallRule': always({
        Name: 'a',
        Enabled: 'True',
        Direction: 'Inbound',
        Action: 'Allow',
        Profile: 'Any',
      }),
      'Get-NetFirewallPortFilter': always({ Protocol: 'TCP', LocalPort: ['10250'] }),
    },
    model: ({ firewall }) => firewall.set('a', { name: 'a', protocol: 'TCP', ports: ['10250'] }),
  },
  'probe-hns.ps1': {
    stands: {
      'Get-Command': command,
      'Get-HnsNetwork': always({ ID: '1', Name: 'cbr0', Type: 'L2Bridge', ManagementIP: '10.0.0.31' }),
      'Get-HnsSubnet': always('10.244.3.0/24'),
      'Get-HnsEndpoint': always({ ID: '2', Name: 'e', VirtualNetworkName: 'cbr0', IPAddress: '10.244.3.2' }),
    },
    optional: ['ID', 'Name', 'Type', 'ManagementIP', 'VirtualNetworkName', 'IPAddress'],
    model: ({ networks, endpoints }) => {
      networks.push({ id: '1', name: 'cbr0', type: 'L2Bridge', subnet: '10.244.3.0/24' });
      endpoints.push({ id: '2', name: 'e', type: '', network: 'cbr0', address: '10.244.3.2' });
    },
  },
  'probe-job.ps1': {
    stands: {
      'Get-ScheduledTask': ({ taskname }) => ({
        TaskName: (taskname as string).replace('*', '1'),
        State: taskname === 'kbuild-restart' ? 'Ready' : 'Running',
      }),
    },
    model: ({ tasks }) => {
      tasks.set('kbuild-job-1', { name: 'kbuild-job-1', state: 'Running', lastResult: 0 });
      tasks.set('kbuild-restart', { name: 'kbuild-restart', state: 'Ready', lastResult: 0 });
    },
  },
  'probe-kubeconfig.ps1': {
    ...PATH,
    stands: { 'Test-Path': always(true), 'Read-Utf8': always('server: https://k8s.example:6443\ntoken: x') },
    model: withFile,
  },
  // A kubelet that does not answer is not healthy, whatever the reason: `healthy` has a test of its own.
  'probe-listeners.ps1': {
    params: { Tcp: [10250], Udp: [4789] },
    stands: {
      'Get-NetTCPConnection': always({ OwningProcess: 4 }),
      'Get-NetUDPEndpoint': always({ OwningProcess: 5 }),
      'Get-Process': always({ Name: 'kubelet' }),
    },
    model: ({ extra }) => extra.set('listeners', [{ protocol: 'tcp', port: 10250, program: 'kubelet' }]),
  },
  'probe-machine.ps1': {
    stands: {
      'Get-CimInstance': cim,
      'Get-ItemProperty': always({ UBR: 2700, InstallationType: 'Server Core', EditionID: 'ServerDatacenter' }),
      'Get-UptimeMilliseconds': always(60_000),
      'Test-Administrator': always(true),
    },
    optional: ['Manufacturer', 'Model'],
  },
  'probe-network.ps1': {
    stands: {
      'Get-NetAdapter': always({
        InterfaceIndex: 2,
        Name: 'Ethernet',
        InterfaceDescription: 'VirtIO',
        MacAddress: '52-54',
        Status: 'Up',
      }),
      'Get-NetIPAddress': always({
        InterfaceIndex: 2,
        InterfaceAlias: 'Ethernet',
        IPAddress: '10.0.0.31',
        PrefixLength: 24,
        PrefixOrigin: 'Manual',
      }),
      'Get-NetRoute': always({ InterfaceIndex: 2, NextHop: '10.0.0.1' }),
      'Get-NetConnectionProfile': always({ InterfaceIndex: 2, NetworkCategory: 'Private' }),
    },
    optional: ['InterfaceDescription', 'MacAddress', 'InterfaceAlias'],
  },
  'probe-paths.ps1': { ...PATHS, stands: { 'Test-Path': always(true) }, model: withFile },
  'probe-pending-reboot.ps1': {
    stands: {
      'Test-Path': always(true),
      'Get-ItemProperty': always({ PSObject: { Properties: { PendingFileRenameOperations: 1 } } }),
    },
    optional: ['PSObject'],
    model: (machine) => (machine.pendingReboot = true),
  },
  'probe-services.ps1': {
    ...NAMES,
    stands: {
      'Get-CimInstance': cim,
      'Get-UnixMilliseconds': always(1000),
      'Get-Item': always({ Property: ['AppParameters'] }),
      'Test-Path': always(true),
      'Get-RegistryValue': ({ name }) => (name === 'DependOnService' || name === 'Environment' ? ['x'] : 'text'),
    },
    // The registry, where a key is without the value.
    optional: ['Property'],
    model: (machine) =>
      addService(machine, {
        ...{ name: 'a', path: 'text', state: 'Running', dependsOn: ['x'], environment: ['x'] },
        parameters: { AppParameters: 'text' },
      }),
  },
  'probe-text.ps1': { ...PATH, stands: { 'Test-Path': always(true), 'Read-Utf8': always('text') }, model: withFile },
  'probe-volume.ps1': { stands: { 'Get-CimInstance': cim } },
};
