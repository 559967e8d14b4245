import type { Host } from '../model/inventory.ts';
import { quantityOf } from '../topology/quantity.ts';

/** The kubelet's eviction signals for disks. `nodefs`: /var/lib/kubelet; `imagefs`: the runtime's folder. */
export type DiskSignal = 'nodefs.available' | 'nodefs.inodesFree' | 'imagefs.available' | 'imagefs.inodesFree';

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
export function thresholdOf(text: string, total: number): number {
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
export function evictionThresholds({ kubelet }: Pick<Host, 'kubelet'>): Readonly<Partial<Record<DiskSignal, string>>> {
  const argument = kubelet.extraArgs.findLast(({ name }) => name === 'eviction-hard');
  const config = kubelet.config['evictionHard'] as Readonly<Record<string, unknown>> | null | undefined;
  const set = argument === undefined ? config : ofArgument(argument.value);
  if (set === undefined || set === null) return DEFAULTS;
  const own = Object.fromEntries(Object.entries(set).map(([signal, value]) => [signal, String(value)]));
  return kubelet.config['mergeDefaultEvictionSettings'] === true ? { ...DEFAULTS, ...own } : own;
}
