import { Refused } from '../errors.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { linuxNodes } from '../topology/select.ts';
import { shortFingerprint, spkiFingerprint } from '../shell/fingerprint.ts';
import { signingAuthority } from '../configuration/signing.ts';
import { clusterCas, standing } from './standing.ts';

const CA_KEY = '/etc/kubernetes/pki/ca.key';

/**
 * Refuses if the CA of the inventory is not the live cluster's. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export function anotherAuthority({ name, certificates }: Inventory, fleet: Fleet): readonly Refused[] {
  const live = clusterCas(fleet);
  if (certificates.ca === undefined || live.size === 0) return [];
  const desired = spkiFingerprint(certificates.ca.cert);
  if (live.has(desired)) return [];
  return [
    new Refused(
      name,
      `certificates.ca is ${shortFingerprint(desired)}…, the cluster was made with ${[...live].map(shortFingerprint).join('… and ')}…, and Kubernetes cannot change it`,
      "name the cluster's own CA there, or take certificates.ca out; another CA needs a new cluster",
    ),
  ];
}

/**
 * Refuses to change the signer of a cluster, which is fixed when the cluster is built: kubeadm and the controller
 * manager with the CA key on the hosts, or the inventory's signing command. Throws `FactError` when a fact that it
 * needs is unknown.
 */
export function anotherSigner(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const seen = observedLinux(fleet).map(({ host, facts }) => ({
    host,
    facts,
    joined: standing({ inventory, host, facts, fleet }) === 'joined',
  }));
  const control = seen.filter(({ host, joined }) => joined && host.role === 'control-plane');
  const [has] = control.filter(({ facts }) => facts.kubernetesTraces.has(CA_KEY));
  const [lacks] = control.filter(({ facts }) => !facts.kubernetesTraces.has(CA_KEY));
  if (signingAuthority(inventory) !== undefined)
    return has === undefined
      ? []
      : [
          new Refused(
            has.host.name,
            `it has the key of the cluster's CA (${CA_KEY}), with which kubeadm and the cluster sign, and certificates.ca.sign says that no host has it`,
            'take certificates.ca.sign out (or name certificates.ca.key); another way of signing needs a new cluster',
          ),
        ];
  const joins = linuxNodes(inventory).some((host) =>
    seen.some((other) => other.host.name === host.name && !other.joined),
  );
  return lacks === undefined || !(joins || inventory.certificates.ca !== undefined)
    ? []
    : [
        new Refused(
          lacks.host.name,
          `it does not have the key of the cluster's CA (${CA_KEY}): certificates of this cluster are signed elsewhere`,
          'name certificates.ca with cert and sign',
        ),
      ];
}
