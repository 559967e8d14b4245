import { renewerOf } from '../cluster/expiry.ts';
import { nearItsEnd, type Due } from '../cluster/renewals.ts';
import { standing } from '../cluster/standing.ts';
import { clusterConfiguration, initConfiguration } from '../configuration/kubeadm-config.ts';
import { authorityOf, RENEWED_NAMES, type RenewedName } from '../configuration/kubeadm-certificates.ts';
import { renewCertificates } from '../configuration/renewed-certificates.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { placeCertificates, restartedBy, signedCertificates } from '../configuration/signed-certificates.ts';
import { signsByCommand } from '../topology/own-authorities.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { On } from '../remote/remote.ts';

/** The certificates that this step renews: not those of an etcd on hosts of its own, which its steps renew. */
const isOurs = ({ inventory }: Target, name: RenewedName): boolean =>
  renewerOf(inventory, name) === 'kbuild' && (inventory.etcd.topology === 'stacked' || authorityOf(name) !== 'etcd-ca');

function found(target: Target, due: Due): readonly { readonly name: RenewedName; readonly why: string }[] {
  const { facts, host } = target;
  return RENEWED_NAMES.filter((name) => isOurs(target, name)).flatMap((name) => {
    const certificate = facts.certificates.find((one) => one.name === name);
    const why = certificate === undefined ? undefined : due(host.name, certificate, { ...target, nowMs: facts.nowMs });
    return why === undefined ? [] : [{ name, why }];
  });
}

/** @throws Refused when an authority that must sign has itself ended: no client would trust what it signs */
function refuseEndedAuthority({ host, facts }: Target, names: readonly RenewedName[]): void {
  const ended = facts.certificates.find(
    ({ name, expires }) => Date.parse(expires) <= facts.nowMs && names.some((one) => authorityOf(one) === name),
  );
  if (ended === undefined) return;
  throw new Refused(
    host.name,
    `the authority ${ended.name} ended ${ended.expires}, and no client trusts what it signs`,
    `give it a new end first: \`kbuild certs renew-ca ${ended.name}\``,
  );
}

/** What an authority signs by its command. The keys of the others are on the host, and kubeadm signs with them. */
async function renew({ inventory, host }: Target, names: readonly RenewedName[], on: On): Promise<void> {
  const asked = names.filter((name) => signsByCommand(inventory, authorityOf(name)));
  if (asked.length > 0) {
    const signed = await signedCertificates(on(host), inventory, asked);
    await on(host).job('renew-certificates', placeCertificates(inventory, host, asked), signed);
  }
  const here = names.filter((name) => !asked.includes(name));
  if (here.length > 0) {
    const config = secretYaml([initConfiguration(inventory, host), clusterConfiguration(inventory)]);
    await on(host).job('renew-certificates', renewCertificates(inventory, host, here), { 'config.yaml': config });
  }
}

/**
 * Renews the certificates of a joined control plane, with new keys, when `due` says so. The API server and etcd read theirs again
 * without a restart. It waits for no absent control plane: certificates end whether or not that one comes back.
 */
export const controlPlaneCertificates = (due: Due): Step => ({
  name: 'control-plane-certificates',
  diff: (target) => {
    const { inventory, host } = target;
    if (host.role !== 'control-plane' || standing(target) !== 'joined') return [];
    const renewed = found(target, due);
    if (renewed.length === 0) return [];
    const names = renewed.map(({ name }) => name);
    refuseEndedAuthority(target, names);
    return [
      {
        summary: `renew certificates of the control plane on ${host.name}: ${renewed.map(({ name, why }) => `${name} (found ${why})`).join(', ')}`,
        restarts: restartedBy(inventory, names).map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
        apply: (on) => renew(target, names, on),
      },
    ];
  },
});

/** The same for those that end soon. */
export const renewedCertificates: Step = controlPlaneCertificates(nearItsEnd);
