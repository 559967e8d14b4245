import type { Kind } from '../cluster/fleet/fleet.ts';
import type { Change, Target } from '../engine/step.ts';
import type { Argument, Inventory } from '../inventory/inventory.ts';
import { mergedArguments } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { RotatedName } from './certificates.facts.ts';
import type { KeepControlPlane } from './place-authority.step.ts';
import { type Direction, type Rotation, rotationOf } from './rotation.ts';
import type { TokenUse } from './token-use.facts.ts';

/** A rotation that a run carries out. */
export interface Rotating {
  readonly name: RotatedName;
  readonly direction: Direction;
  /**
   * Common name of the new authority. It differs from the old authority's, so that the issuer of a certificate shows
   * which of the two signed it.
   */
  readonly subject: string;
  readonly keep: KeepControlPlane;
  /**
   * `planned`: plan a rotation that has not begun. Facts alone cannot distinguish that from a rotation that has ended.
   */
  readonly when: 'planned' | 'now';
  /**
   * `restart`: restart workloads whose pods may trust the old authority only, or have a token of the removed key of
   * service accounts.
   */
  readonly workloads: 'restart' | 'leave';
  /** `refuse`: stop the rotation if Secrets have tokens of the key of service accounts that it removes. */
  readonly secretTokens: 'refuse' | 'leave';
  /**
   * The pods and Secrets that had tokens when the run began. The cluster's view shows it only while the key of service
   * accounts is rotated.
   */
  readonly tokensBefore?: TokenUse | undefined;
}

/** The rotated thing, as text for summaries. */
export const nounOf = (name: RotatedName): string => (name === 'sa' ? 'key of service accounts' : `authority ${name}`);

/** The planned change of a step in a rotation that has not begun. */
export const planned = (
  { when, direction }: Rotating,
  summary: string,
  more: Partial<Change> = {},
): readonly Change[] => (when === 'planned' && direction === 'forward' ? [{ summary, ...more }] : []);

/** The rotation that is under way; undefined if none is. @throws Refused like `rotationOf` */
export const underWay = ({ fleet }: Pick<Target<Kind>, 'fleet'>, { name }: Rotating): Rotation | undefined =>
  rotationOf(fleet, name);

/**
 * The files with which the controller manager signs while the CA is rotated: it only accepts a file with a single
 * certificate.
 */
export const SIGNING = {
  'cluster-signing-cert-file': '/etc/kubernetes/pki/ca-signing.crt',
  'cluster-signing-key-file': '/etc/kubernetes/pki/ca-signing.key',
} as const;

const argumentsOf = ({ kubeadm }: Inventory): readonly Argument[] =>
  ((kubeadm.cluster['controllerManager'] as JsonObject | undefined)?.['extraArgs'] ?? []) as readonly Argument[];

/** The inventory as it is while the CA is rotated: its controller manager signs with files of its own. */
export function withSigning(inventory: Inventory): Inventory {
  const { kubeadm } = inventory;
  const extraArgs = mergedArguments(
    argumentsOf(inventory),
    Object.entries(SIGNING).map(([name, value]) => ({ name, value })),
  );
  const controllerManager = { ...(kubeadm.cluster['controllerManager'] as JsonObject | undefined), extraArgs };
  return { ...inventory, kubeadm: { ...kubeadm, cluster: { ...kubeadm.cluster, controllerManager } } };
}
