import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { editedParts } from '../kubeadm/settings.ts';
import type { JsonObject } from '../shell/decode.ts';
import { AUTHORITY_FILES, ROTATED_FILES, type RotatedName } from './authorities.facts.ts';
import { type KubeadmAuthority, ownAuthority, settingOf } from './authorities.value.ts';
import { isRotated, rotationOf, stageOf } from './rotation.ts';

const OTHERS = Object.keys(ROTATED_FILES) as readonly RotatedName[];
const AUTHORITIES = Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[];

/** Arguments of the controller manager that a rotation sets itself. */
const SIGNING_ARGUMENTS = /^cluster-signing-(?:cert|key)-file$/;

function ownSigning({ name: cluster, kubeadm }: Inventory): readonly Refused[] {
  const settings = kubeadm.cluster['controllerManager'] as JsonObject | undefined;
  const given = (settings?.['extraArgs'] ?? []) as readonly { readonly name: string }[];
  return given.some(({ name }) => SIGNING_ARGUMENTS.test(name))
    ? [
        new Refused(
          'rotation-own-settings',
          cluster,
          'the inventory says with what the controller manager signs (kubeadm.cluster.controllerManager.extraArgs), and a rotation must change that',
          'take cluster-signing-cert-file and cluster-signing-key-file out, and run `kbuild up` first',
        ),
      ]
    : [];
}

/** Arguments that name other keys of service accounts than kubeadm's, by the part of kubeadm's configuration. */
const KEY_ARGUMENTS = {
  apiServer: /^service-account-(?:key-file|signing-key-file|signing-endpoint)$/,
  controllerManager: /^service-account-private-key-file$/,
} as const;

const ownKeys = ({ name: cluster, kubeadm }: Inventory): readonly Refused[] =>
  Object.entries(KEY_ARGUMENTS).flatMap(([part, pattern]) => {
    const settings = kubeadm.cluster[part] as JsonObject | undefined;
    const given = ((settings?.['extraArgs'] ?? []) as readonly { readonly name: string }[]).find(({ name }) =>
      pattern.test(name),
    );
    return given === undefined
      ? []
      : [
          new Refused(
            'rotation-own-settings',
            cluster,
            `the inventory says where the keys of service accounts are (kubeadm.cluster.${part}.extraArgs, ${given.name}), and kbuild rotates those that kubeadm made`,
            'rotate them where they are kept; or take the argument out, and run `kbuild up` first',
          ),
        ];
  });

/**
 * Why an authority, or the key of service accounts, may not be rotated now, on top of `authorityChangeRefusals`; empty if it may. Throws `FactError` when a fact that it
 * needs is unknown, and Refused like `rotationOf`.
 */
export function rotationRefusals(inventory: Inventory, fleet: Fleet, name: RotatedName): readonly Refused[] {
  const { cluster } = fleet;
  const other = OTHERS.find(
    (one) => one !== name && (one === 'sa' ? isRotated(fleet, one) : rotationOf(fleet, one) !== undefined),
  );
  const edited = cluster.state === 'up' && rotationOf(fleet, name) === undefined ? editedParts(inventory, cluster) : [];
  const ended = observedLinux(fleet).find(
    ({ host, facts }) =>
      host.role === 'control-plane' && (facts.authorities.files[name].bundle[0]?.expiresMs ?? Infinity) <= facts.nowMs,
  );
  return [
    ...(name !== 'sa' && ownAuthority(inventory, name) !== undefined
      ? [
          new Refused(
            'rotation-own-authority',
            inventory.name,
            `${settingOf(name)} in the inventory is the ${name} of this cluster, and kbuild rotates only authorities that it made`,
            `take ${settingOf(name)} out if kubeadm may sign from now on (the key must be on the control planes); another CA of your own needs a new cluster`,
          ),
        ]
      : []),
    ...(other === undefined
      ? []
      : [
          new Refused(
            'rotation-under-way',
            inventory.name,
            `a rotation of ${other} is under way (${stageOf(fleet, other)})`,
            `end it first: \`kbuild certs rotate-ca ${other}\``,
          ),
        ]),
    ...(edited === 'unknown' || edited.length > 0
      ? [
          new Refused(
            'settings-not-applied',
            inventory.name,
            'settings were edited and not applied yet: they would be mixed with the rotation',
            'apply them first with `kbuild up`',
          ),
        ]
      : []),
    ...(ended === undefined
      ? []
      : [
          new Refused(
            'authority-ended',
            ended.host.name,
            `the authority ${name} has ended, and no program trusts what it signed`,
            `give it a new end first: \`kbuild certs renew-ca ${name}\`, then \`kbuild certs recover\``,
          ),
        ]),
    ...(name === 'ca' ? ownSigning(inventory) : []),
    ...(name === 'sa' ? ownKeys(inventory) : []),
  ];
}

/** Refuses what would meet a rotation of an authority halfway; one of the key of service accounts bears it. `what`: the change, as the beginning of a sentence. */
export const duringRotation = (
  inventory: Inventory,
  fleet: Fleet,
  what: string,
): readonly Refused<'rotation-under-way'>[] =>
  AUTHORITIES.filter((name) => rotationOf(fleet, name) !== undefined).map(
    (name) =>
      new Refused(
        'rotation-under-way',
        inventory.name,
        `${what} while the authority ${name} is rotated (${stageOf(fleet, name)})`,
        `end the rotation first: \`kbuild certs rotate-ca ${name}\`, or take it back with --rollback`,
      ),
  );

/** @throws Refused like `rotationOf`: in a rotation that kbuild did not begin no host can take part */
export function refuseForeignRotations(fleet: Fleet): void {
  for (const name of AUTHORITIES) rotationOf(fleet, name);
}
