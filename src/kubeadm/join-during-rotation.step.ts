import type { KubeadmAuthority } from '../certificates/authorities.value.ts';
import { AUTHORITY_FILES, type AuthorityFiles, type Beside, SUFFIXES } from '../certificates/certificates.facts.ts';
import { SIGNING } from '../certificates/rotation.step.ts';
import { copied, type PkiFiles } from '../certificates/shared-files.ts';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import type { Target } from '../engine/step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { Secret } from '../shell/secret.ts';
import type { On } from '../ssh/remote.ts';
import { JOB_PATCHES } from './run-kubeadm.step.ts';

/**
 * The kubeadm patch with which the controller manager signs with files of its own. Its arguments come last and override
 * kubeadm's own. kubeadm joins with the cluster's configuration, which does not have these arguments.
 */
const SIGNING_PATCH = {
  name: 'kube-controller-managerzz-kbuild-signing+json.json',
  content: Secret.of(
    JSON.stringify(
      Object.entries(SIGNING).map(([argument, file]) => ({
        op: 'add',
        path: '/spec/containers/0/command/-',
        value: `--${argument}=${file}`,
      })),
    ),
  ),
};

/**
 * The authorities of which a rotation may keep further files on a control plane. If etcd has hosts of its own, its
 * authority is on those hosts.
 */
const rotatable = ({ etcd }: Target['inventory']): readonly KubeadmAuthority[] =>
  (Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[]).filter(
    (name) => name !== 'etcd-ca' || etcd.topology === 'stacked',
  );

/** The inputs of a join with which the new control plane takes part in running rotations. */
interface PartInRotations {
  /**
   * Private files of the job: the files that the control plane through which it joins keeps for rotations, and patches
   * of this join.
   */
  readonly files: PkiFiles;
  /** Folder of the patches, if this join has its own. */
  readonly patches?: string;
}

/** The files of a rotation that the facts show for an authority, below /etc/kubernetes/pki. */
const filesBeside = (name: KubeadmAuthority, { beside, keys }: AuthorityFiles): readonly string[] =>
  (Object.keys(SUFFIXES) as readonly Beside[]).flatMap((what) => {
    const file = `${AUTHORITY_FILES[name]}${SUFFIXES[what]}`;
    return [
      ...(keys[what] === undefined ? [] : [`${file}.key`]),
      ...(beside[what] === undefined ? [] : [`${file}.crt`]),
    ];
  });

/**
 * The files that a control plane gets beside the shared certificates if it joins during a rotation: the same files that
 * the control plane keeps through which it joins, so that the rotation can continue, or roll back, on it too. Empty if
 * no rotation is running. Throws if that control plane does not have a file that its facts show.
 */
export async function partInRotations(
  { inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>,
  through: LinuxHost,
  on: On,
): Promise<PartInRotations> {
  const { files, signing } = linuxFacts(fleet, through)!.authorities;
  const names = rotatable(inventory).flatMap((name) => filesBeside(name, files[name]));
  if (names.length === 0) return { files: {} };
  const kept = await copied(on(through), names);
  if (signing !== SIGNING['cluster-signing-cert-file']) return { files: kept };
  return { files: { ...kept, [`patch_${SIGNING_PATCH.name}`]: SIGNING_PATCH.content }, patches: JOB_PATCHES };
}
