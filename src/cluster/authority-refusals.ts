import { Refused } from '../errors.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { linuxNodes } from '../topology/select.ts';
import { shortFingerprint, spkiFingerprint } from '../shell/fingerprint.ts';
import { signingAuthority } from '../configuration/signing.ts';
import { clusterCas, standing } from './standing.ts';

const CA_KEY = '/etc/kubernetes/pki/ca.key';

/** The inventory's own CA is not the live cluster's. Throws `FactError` when a fact that it needs is not known. */
export function anotherAuthority({ name, certificates }: Inventory, fleet: Fleet): readonly Refused[] {
  const [live] = clusterCas(fleet);
  if (certificates.ca === undefined || live === undefined) return [];
  const wanted = spkiFingerprint(certificates.ca.cert);
  if (wanted === live) return [];
  return [
    new Refused(
      name,
      `certificates.ca is ${shortFingerprint(wanted)}…, the cluster was made with ${shortFingerprint(live)}…, and Kubernetes cannot change it`,
      "name the cluster's own CA there, or take certificates.ca out; another CA needs a new cluster",
    ),
  ];
}

/**
 * Which program signs is settled when the cluster is made: kubeadm and the controller manager with the key on the hosts, or
 * the signing command of the inventory. Throws `FactError` when a fact that it needs is not known.
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
  const joins = linuxNodes(inventory).some((host) => seen.some((one) => one.host.name === host.name && !one.joined));
  return lacks === undefined || !(joins || inventory.certificates.ca !== undefined)
    ? []
    : [
        new Refused(
          lacks.host.name,
          `it does not have the key of the cluster's CA (${CA_KEY}): somebody else signs for this cluster`,
          'name certificates.ca with cert and sign',
        ),
      ];
}
