import { AUTHORITY_FILES, type AuthorityFiles, type Beside, SUFFIXES } from '../certificates/authorities.facts.ts';
import type { KubeadmAuthority } from '../certificates/authorities.value.ts';
import { SIGNING } from '../certificates/rotation.step.ts';
import { copied, type PkiFiles } from '../certificates/shared-files.ts';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import type { Target } from '../engine/step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { Secret } from '../shell/secret.ts';
import type { On } from '../ssh/remote.ts';
import { JOB_PATCHES } from './job.step.ts';

/**
 * The patch of kubeadm with which the controller manager signs apart. The arguments come last, and win over kubeadm's
 * own. kubeadm joins with the cluster's configuration, which does not have them.
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
 * The authorities that a rotation may have left something beside. An etcd on hosts of its own has its authority there.
 */
const rotatable = ({ etcd }: Target['inventory']): readonly KubeadmAuthority[] =>
  (Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[]).filter(
    (name) => name !== 'etcd-ca' || etcd.topology === 'stacked',
  );

/** By what kubeadm's join makes a control plane take part in the rotations that are under way. */
interface PartInRotations {
  /**
   * Private files of the job: what lies beside the authorities on the control plane that it joins through, and patches
   * of this join.
   */
  readonly files: PkiFiles;
  /** Where kubeadm finds the patches, if this join has its own. */
  readonly patches?: string;
}

/** What the facts show beside an authority, as files below /etc/kubernetes/pki. */
const filesBeside = (name: KubeadmAuthority, { beside, keys }: AuthorityFiles): readonly string[] =>
  (Object.keys(SUFFIXES) as readonly Beside[]).flatMap((what) => {
    const file = `${AUTHORITY_FILES[name]}${SUFFIXES[what]}`;
    return [
      ...(keys[what] === undefined ? [] : [`${file}.key`]),
      ...(beside[what] === undefined ? [] : [`${file}.crt`]),
    ];
  });

/**
 * What a control plane gets beyond the shared certificates when it joins through another one while authorities are
 * rotated: it keeps what that one keeps, so that the rotation goes on, or back, with it. Nothing if none is under way.
 * Throws if the other one does not give a file that it has by its facts.
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
