import { evictionThresholds, thresholdOf, type DiskSignal } from '../configuration/eviction.ts';
import { isOfImage } from '../components/distributions/index.ts';
import { dataFolderOf } from '../components/runtimes/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { Volume } from '../facts/linux/storage.ts';
import type { Inventory } from '../model/inventory.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

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
  `below the kubelet's eviction threshold ${signal} ${text} (evictionHard): the node gets DiskPressure and runs no pods`;

/** What is too little on one file system: for the programs of a node, or for its kubelet. */
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

export const diskSpace = eachHost(
  {
    name: 'disk-space',
    title: 'there are free bytes and inodes on the file systems that matter',
    why: 'Below the eviction thresholds of the kubelet (by default less than 10 % free, 15 % for images, or 5 % of the inodes) the node is under disk pressure and runs no pods. The inventory may set them: `kubelet.config.evictionHard`, in percent or as an amount, for all, for a role or for a host. A full disk in the middle of an installation is worse; on a host that is a node already it is a warning. Make room, or put a larger disk there.',
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
