import type { Target } from '../../engine/step.ts';
import { linuxFacts } from '../../facts/fleet.ts';
import { AUTHORITY_FILES } from '../../facts/linux/authorities.ts';
import type { LinuxHost } from '../../model/inventory.ts';
import type { On } from '../../remote/remote.ts';
import { pkiFile, readPki } from '../../configuration/shared-certificates.ts';
import { Secret } from '../../shell/secret.ts';
import type { KubeadmAuthority } from '../../topology/own-authorities.ts';
import { SIGNING } from './rotating.ts';

/**
 * The patch of kubeadm with which the controller manager signs apart. The arguments come last, and win over kubeadm's own. kubeadm joins
 * with the cluster's configuration, which does not have them.
 */
const SIGNING_PATCH = {
  name: 'kube-controller-managerzz-kbuild-signing+json.json',
  content: JSON.stringify(
    Object.entries(SIGNING).map(([argument, file]) => ({
      op: 'add',
      path: '/spec/containers/0/command/-',
      value: `--${argument}=${file}`,
    })),
  ),
};

/** The authorities that a rotation may have left something beside. An etcd on hosts of its own has its authority there. */
const rotatable = ({ etcd }: Target['inventory']): readonly KubeadmAuthority[] =>
  (Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[]).filter(
    (name) => name !== 'etcd-ca' || etcd.topology === 'stacked',
  );

/** Private files of kubeadm's join by which a control plane takes part in the rotations that are under way. */
export interface RotationFiles {
  /** What lies beside the authorities on the control plane that it joins through. */
  readonly files: Readonly<Record<string, Secret>>;
  /** True if the join has patches of its own. */
  readonly isPatched: boolean;
}

/**
 * What a control plane gets beyond the shared certificates when it joins through another one while authorities are rotated: it keeps what
 * that one keeps, so that the rotation goes on, or back, with it. Nothing if none is under way.
 */
export async function rotationFiles(
  { inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>,
  through: LinuxHost,
  on: On,
): Promise<RotationFiles> {
  const { files, signing } = linuxFacts(fleet, through)!.authorities;
  const names = rotatable(inventory).filter((name) => Object.keys(files[name].beside).length > 0);
  if (names.length === 0) return { files: {}, isPatched: false };
  const beside = names.flatMap((name) =>
    ['old', 'new', 'signing'].flatMap((what) => ['key', 'crt'].map((end) => `${AUTHORITY_FILES[name]}-${what}.${end}`)),
  );
  const found = await readPki(on(through), beside);
  const isPatched = signing === SIGNING['cluster-signing-cert-file'];
  return {
    files: {
      ...Object.fromEntries([...found].map(([name, content]) => [pkiFile(name), content])),
      ...(isPatched ? { [`patch_${SIGNING_PATCH.name}`]: Secret.of(SIGNING_PATCH.content) } : {}),
    },
    isPatched,
  };
}
