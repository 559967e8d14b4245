import { hasKubelet } from '../cluster/fleet/joined.ts';
import {
  type Check,
  type CheckGroup,
  eachHost,
  type Finding,
  type HostFinding,
  type HostSeen,
} from '../engine/check.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { quantityOf } from '../kubeadm/typed.value.ts';
import { dataFolderOf, RUNTIME_DATA_FOLDERS } from '../runtime/runtimes.value.ts';
import { isOfImage } from './packages/distributions.value.ts';
import type { Volume } from './storage.facts.ts';

/** The kubelet's eviction signals for disks. `nodefs`: /var/lib/kubelet; `imagefs`: the runtime's folder. */
type DiskSignal = 'nodefs.available' | 'nodefs.inodesFree' | 'imagefs.available' | 'imagefs.inodesFree';

/** The kubelet's defaults on Linux (pkg/kubelet/eviction/defaults_linux.go). */
const DEFAULTS: Readonly<Record<DiskSignal, string>> = {
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * A threshold (`10%` or a Kubernetes quantity) in the unit of `total`; 0 if it is invalid, which the kubelet reports
 * itself.
 */
function thresholdOf(text: string, total: number): number {
  const share = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (share !== undefined) return (Number(share) / 100) * total;
  return quantityOf(text) ?? 0;
}

/** `--eviction-hard=nodefs.available<5%,…` */
const ofArgument = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    value.split(',').flatMap((one) => {
      const [signal, threshold] = one.split('<');
      return signal === undefined || threshold === undefined ? [] : [[signal.trim(), threshold.trim()]];
    }),
  );

/**
 * The thresholds below which a host's kubelet sets DiskPressure, by signal. If the inventory sets `evictionHard`, the
 * kubelet drops the defaults of all other signals, unless `mergeDefaultEvictionSettings` is set. The argument wins over
 * the configuration.
 */
function evictionThresholds({ kubelet }: Pick<Host, 'kubelet'>): Readonly<Partial<Record<DiskSignal, string>>> {
  const argument = kubelet.extraArgs.findLast(({ name }) => name === 'eviction-hard');
  const config = kubelet.config['evictionHard'] as Readonly<Record<string, unknown>> | null | undefined;
  const set = argument === undefined ? config : ofArgument(argument.value);
  if (set === undefined || set === null) return DEFAULTS;
  const own = Object.fromEntries(Object.entries(set).map(([signal, value]) => [signal, String(value)]));
  return kubelet.config['mergeDefaultEvictionSettings'] === true ? { ...DEFAULTS, ...own } : own;
}

const MIB = 1024 * 1024;

/** MiB that Kubernetes' images need when they are unpacked. */
const IMAGES_MIB = 3000;

/** MiB that a path needs for volumes, packages and logs. */
const NEEDED: Readonly<Record<string, number>> = {
  '/var/lib/kubelet': 500,
  '/var/log': 200,
  '/etc': 20,
  '/usr': 500,
  '/opt': 200,
  '/tmp': 100,
};

/** etcd's default quota. */
const ETCD_MIB = 2048;

/** The kubelet's signals about a path: bytes and inodes. */
const signalsOf = (inventory: Inventory, path: string): readonly [bytes?: DiskSignal, inodes?: DiskSignal] =>
  path === '/var/lib/kubelet'
    ? ['nodefs.available', 'nodefs.inodesFree']
    : path === dataFolderOf(inventory)
      ? ['imagefs.available', 'imagefs.inodesFree']
      : [];

const MIN_INODES = 2000;

const percent = (part: number, whole: number): string => `${String(Math.floor((100 * part) / whole))} %`;
const mebibytes = (bytes: number): string => `${String(Math.floor(bytes / MIB))} MiB`;

function needed({ inventory, host, facts }: HostSeen, { path, isEtcds }: Volume): number | undefined {
  if (isOfImage(facts, path)) return undefined;
  if (isEtcds) return host.role === 'control-plane' || host.role === 'etcd' ? ETCD_MIB : undefined;
  return path === dataFolderOf(inventory) ? IMAGES_MIB : NEEDED[path];
}

interface Threshold {
  readonly signal: DiskSignal;
  /** As the kubelet's configuration has it, e.g. `10%`. */
  readonly text: string;
  /** Bytes or inodes. */
  readonly amount: number;
}

/** Below which the kubelet of the host sets DiskPressure for a volume; undefined where it does not look. */
function thresholds({ inventory, host }: HostSeen, volume: Volume): readonly (Threshold | undefined)[] {
  const signals = host.role === 'load-balancer' ? [] : signalsOf(inventory, volume.path);
  const known = evictionThresholds(host);
  return [volume.totalBytes, volume.totalInodes].map((total, i) => {
    const signal = signals[i];
    const text = signal === undefined ? undefined : known[signal];
    return signal === undefined || text === undefined ? undefined : { signal, text, amount: thresholdOf(text, total) };
  });
}

const below = ({ signal, text }: Threshold): string =>
  `below the kubelet's eviction threshold ${signal} ${text} (evictionHard): the node gets DiskPressure and runs ` +
  'no pods';

/** The shortage on one file system: too little for the programs of a node, or for its kubelet. */
function tooLittle(seen: HostSeen, volume: Volume): readonly string[] {
  const { path, freeBytes, totalBytes, freeInodes, totalInodes } = volume;
  const need = needed(seen, volume);
  if (need === undefined) return [];
  const [bytes, inodes] = thresholds(seen, volume);
  const freeInodesText = `${path} has ${String(freeInodes)} of ${String(totalInodes)} inodes free`;
  return [
    ...(bytes !== undefined && freeBytes < bytes.amount
      ? [`${path} has ${mebibytes(freeBytes)} free (${percent(freeBytes, totalBytes)}), ${below(bytes)}`]
      : freeBytes < need * MIB
        ? [`${path} has ${mebibytes(freeBytes)} free, and needs ${String(need)}`]
        : []),
    ...(totalInodes === 0
      ? []
      : inodes !== undefined && freeInodes < inodes.amount
        ? [`${freeInodesText}, ${below(inodes)}`]
        : freeInodes < MIN_INODES
          ? [freeInodesText]
          : []),
  ];
}

const diskSpace = eachHost(
  {
    name: 'disk-space',
    title: 'there are free bytes and inodes on the file systems that matter',
    why:
      'Below the eviction thresholds of the kubelet (by default less than 10 % free, 15 % for images, or 5 % of ' +
      'the inodes) the node is under disk pressure and runs no pods. The inventory may set them: ' +
      '`kubelet.config.evictionHard`, in percent or as an amount, for all, for a role or for a host. A full disk ' +
      'in the middle of an installation is worse; on a host that is a node already it is a warning. Make room, ' +
      'or put a larger disk there.',
    severities: ['error', 'warning'],
  },
  (seen) =>
    seen.facts.storage.flatMap((volume): readonly HostFinding[] =>
      tooLittle(seen, volume).map((message) => ({
        severity: hasKubelet(seen.facts) ? 'warning' : 'error',
        message,
        remedy: `make room on ${volume.mountPoint}`,
      })),
    ),
);

/** etcd's documentation, "Hardware recommendations": 10 ms for the 99th percentile of fdatasync. */
const ADVISED_MS = 10;

/** etcd's heartbeat interval: a leader that needs longer loses its followers. */
const HEARTBEAT_MS = 100;

const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : String(Math.round(value))} ms`;

const diskSync: Check = {
  name: 'disk-sync',
  title: 'disks that will hold etcd sync a write within 10 ms',
  why:
    'A survey: sixty small writes, each with fdatasync, in a file of its own that is removed. Every change of ' +
    'the cluster waits for such a write on most members of etcd. Give /var/lib/etcd a local SSD. Where etcd ' +
    'already runs nothing is measured.',
  severities: ['error', 'warning'],
  test: ({ fleet: { surveys } }) =>
    (surveys?.disks ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one) return [{ severity: 'unknown', host, message: `could not measure the disk: ${one.failed}` }];
      if ('skipped' in one)
        return [{ severity: 'warning', host, message: `the disk was not measured: ${one.skipped}` }];
      const { medianMs, maxMs, folder } = one.found;
      if (medianMs <= ADVISED_MS) return [];
      return [
        {
          severity: medianMs > HEARTBEAT_MS ? 'error' : 'warning',
          host,
          message:
            `a synced write to ${folder} takes ${ms(medianMs)} (median; at most ${ms(maxMs)}), and etcd ` +
            `wants ${ms(ADVISED_MS)}`,
          remedy: `put ${folder} on a local SSD`,
        },
      ];
    }),
};

const overlayMount: Check = {
  name: 'overlay-mount',
  title: 'an overlay can be mounted and written to where the runtime will keep its data',
  why:
    `A survey: in a new folder below ${RUNTIME_DATA_FOLDERS}, and in a mount namespace of its own, an overlay is ` +
    'mounted, files are changed, renamed and removed, and all of it is taken away again. It fails on xfs without ' +
    '`ftype=1`, on network file systems, on overlayfs itself, and where the kernel or a security module ' +
    `forbids it: mount a disk with ext4 or xfs (\`ftype=1\`) at ${RUNTIME_DATA_FOLDERS}.`,
  severities: ['error'],
  test: ({ inventory, fleet: { surveys } }) =>
    (surveys?.overlays ?? []).flatMap((one): readonly Finding[] => {
      const host = one.host.name;
      if ('failed' in one) return [{ severity: 'unknown', host, message: `could not try an overlay: ${one.failed}` }];
      if ('skipped' in one || one.found === 'works') return [];
      return [
        {
          severity: 'error',
          host,
          message:
            `overlayfs does not work where ${dataFolderOf(inventoryOn(inventory, one.host))} ` +
            `lies: ${one.found.error}`,
          remedy: 'mount a disk with ext4 or xfs (ftype=1) there',
        },
      ];
    }),
};

const UNFIT = /^(?:overlay|aufs|nfs4?|cifs|smb3|9p|virtiofs|fuse\..*|fuseblk|ecryptfs|vfat|exfat|ntfs3?)$/;

const overlayStorage = eachHost(
  {
    name: 'overlay-storage',
    title: "the runtime's folder is on a file system that overlayfs works on",
    why:
      'overlayfs cannot lie on itself, nor on network and FUSE file systems: mount a disk with ext4 or xfs ' +
      `(\`ftype=1\`) at ${RUNTIME_DATA_FOLDERS}.`,
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const volume = facts.storage.find(({ path }) => path === dataFolderOf(inventory));
    if (volume === undefined || !UNFIT.test(volume.fileSystem)) return [];
    return [
      {
        severity: 'error',
        message: `${volume.path} lies on ${volume.fileSystem} (${volume.mountPoint}), where overlayfs does not work`,
        remedy: 'mount a disk with ext4 or xfs there',
      },
    ];
  },
);

export const diskChecks: CheckGroup = {
  host: [diskSpace, overlayStorage],
  survey: [diskSync, overlayMount],
};
