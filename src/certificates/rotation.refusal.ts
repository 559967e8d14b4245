import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { reason, type Reason, type Seen } from '../cluster/reasons.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { editedParts } from '../kubeadm/settings.ts';
import type { JsonObject } from '../shell/decode.ts';
import { type KubeadmAuthority, ownAuthority, settingOf } from './authorities.value.ts';
import { AUTHORITY_FILES, ROTATED_FILES, type RotatedName } from './certificates.facts.ts';
import { isDropping, isRotated, rotationOf, stageOf } from './rotation.ts';

const OTHERS = Object.keys(ROTATED_FILES) as readonly RotatedName[];
const AUTHORITIES = Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[];

/** Arguments of the controller manager that a rotation sets itself. */
const SIGNING_ARGUMENTS = /^cluster-signing-(?:cert|key)-file$/;

function ownSigning({ name: cluster, kubeadm }: Inventory): readonly Refused<'rotation-own-settings'>[] {
  const settings = kubeadm.cluster['controllerManager'] as JsonObject | undefined;
  const given = (settings?.['extraArgs'] ?? []) as readonly { readonly name: string }[];
  return given.some(({ name }) => SIGNING_ARGUMENTS.test(name))
    ? [
        new Refused(
          'rotation-own-settings',
          cluster,
          'the inventory says with what the controller manager signs ' +
            '(kubeadm.cluster.controllerManager.extraArgs), and a rotation must change that',
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

const ownKeys = ({ name: cluster, kubeadm }: Inventory): readonly Refused<'rotation-own-settings'>[] =>
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
            `the inventory says where the keys of service accounts are (kubeadm.cluster.${part}.extraArgs, ` +
              `${given.name}), and kbuild rotates those that kubeadm made`,
            'rotate them where they are kept; or take the argument out, and run `kbuild up` first',
          ),
        ];
  });

/** A rotation of an authority, or of the key of service accounts. */
interface Rotating extends Seen {
  readonly name: RotatedName;
  readonly rollback?: boolean | undefined;
}

/**
 * Why a rotation may not begin or go on, or be taken back, on top of `authorityChangeReasons`. Throws Refused like
 * `rotationOf`.
 */
export const rotationReasons: readonly Reason<Rotating>[] = [
  reason(['rotation-own-authority'], ({ inventory, name }) => {
    if (name === 'sa' || ownAuthority(inventory, name) === undefined) return undefined;
    const setting = settingOf(name);
    return new Refused(
      'rotation-own-authority',
      inventory.name,
      `${setting} in the inventory is the ${name} of this cluster, and kbuild rotates only authorities that it made`,
      `take ${setting} out if kubeadm may sign from now on (the key must be on the control planes); another CA ` +
        'of your own needs a new cluster',
    );
  }),
  reason(['rotation-under-way'], ({ inventory, fleet, name }) => {
    const other = OTHERS.find(
      (one) => one !== name && (one === 'sa' ? isRotated(fleet, one) : rotationOf(fleet, one) !== undefined),
    );
    if (other === undefined) return undefined;
    return new Refused(
      'rotation-under-way',
      inventory.name,
      `a rotation of ${other} is under way (${stageOf(fleet, other)})`,
      `end it first: \`kbuild certs rotate-ca ${other}\``,
    );
  }),
  reason(['settings-not-applied'], ({ inventory, fleet, name }) => {
    if (fleet.cluster.state !== 'up' || rotationOf(fleet, name) !== undefined) return undefined;
    const edited = editedParts(inventory, fleet.cluster);
    if (edited !== 'unknown' && edited.length === 0) return undefined;
    return new Refused(
      'settings-not-applied',
      inventory.name,
      'settings were edited and not applied yet: they would be mixed with the rotation',
      'apply them first with `kbuild up`',
    );
  }),
  reason(['authority-ended'], ({ fleet, name }) => {
    const ended = observedLinux(fleet).find(
      ({ host, facts }) =>
        host.role === 'control-plane' &&
        (facts.authorities.files[name].bundle[0]?.expiresMs ?? Infinity) <= facts.nowMs,
    );
    if (ended === undefined) return undefined;
    return new Refused(
      'authority-ended',
      ended.host.name,
      `the authority ${name} has ended, and no program trusts what it signed`,
      `give it a new end first: \`kbuild certs renew-ca ${name}\`, then \`kbuild certs recover\``,
    );
  }),
  reason(['rotation-own-settings'], ({ inventory, name }) =>
    name === 'ca' ? ownSigning(inventory) : name === 'sa' && ownKeys(inventory),
  ),
  reason(['no-rollback'], ({ inventory, fleet, name, rollback }) => {
    const rotation = rollback === true ? rotationOf(fleet, name) : undefined;
    if (rotation === undefined || !isDropping(fleet, name, rotation)) return undefined;
    return new Refused(
      'no-rollback',
      inventory.name,
      `${rotation.old.subject} is no longer trusted everywhere: there is no way back`,
      `run \`kbuild certs rotate-ca${name === 'ca' ? '' : ` ${name}`}\` to end the rotation; if you need another ` +
        'one, rotate again afterwards',
    );
  }),
];

/**
 * Refuses a change that must not run during a rotation of an authority. It may run during a rotation of the key of
 * service accounts. `what`: the change, as the beginning of a sentence.
 */
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

/** @throws Refused like `rotationOf`: no host can take part in a rotation that kbuild did not begin */
export function refuseForeignRotations(fleet: Fleet): void {
  for (const name of AUTHORITIES) rotationOf(fleet, name);
}
