import type { Kind } from '../cluster/fleet/fleet.ts';
import type { Change, Target } from '../engine/step.ts';
import type { Argument, Inventory } from '../inventory/inventory.ts';
import { mergedArguments } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { RotatedName } from './authorities.facts.ts';
import type { KeepControlPlane } from './place-authority.step.ts';
import { type Direction, type Rotation, rotationOf } from './rotation.ts';
import type { TokenUse } from './token-use.facts.ts';

/** A rotation that a run carries out. */
export interface Rotating {
  readonly name: RotatedName;
  readonly direction: Direction;
  /**
   * Common name of the new authority. Another one than the old, so that the issuer of a certificate tells who signed
   * it.
   */
  readonly subject: string;
  readonly keep: KeepControlPlane;
  /** `planned`: the plan of a rotation that has not begun; its steps cannot be told from one that has ended. */
  readonly when: 'planned' | 'now';
  /**
   * Whether workloads restart whose pods may know the old authority alone, or have a token of the key of service
   * accounts that goes.
   */
  readonly workloads: 'restart' | 'leave';
  /** Whether Secrets with tokens of the key of service accounts that goes stop the rotation. */
  readonly secretTokens: 'refuse' | 'leave';
  /**
   * Who held tokens when the run began. The cluster's view shows it only while the key of service accounts is rotated.
   */
  readonly tokensBefore?: TokenUse | undefined;
}

/** What is rotated, in words for summaries. */
export const nounOf = (name: RotatedName): string => (name === 'sa' ? 'key of service accounts' : `authority ${name}`);

/** What a step would do in a rotation that has not begun. */
export const planned = (
  { when, direction }: Rotating,
  summary: string,
  more: Partial<Change> = {},
): readonly Change[] => (when === 'planned' && direction === 'forward' ? [{ summary, ...more }] : []);

/** The rotation that is under way; undefined if none is. @throws Refused like `rotationOf` */
export const underWay = ({ fleet }: Pick<Target<Kind>, 'fleet'>, { name }: Rotating): Rotation | undefined =>
  rotationOf(fleet, name);

/**
 * Where the controller manager finds what it signs with while the CA is rotated: it accepts a file of one certificate
 * only.
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
