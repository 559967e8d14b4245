import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { apiServerNames, clusterConfiguration, initConfiguration, namesIn } from '../kubeadm/config.ts';
import type { JsonObject } from '../shell/decode.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { authorityOf, RENEWED_NAMES, type RenewedName, signsByCommand } from './authorities.value.ts';
import { type Due, nearItsEnd, renewerOf } from './expiry.ts';
import { placeCertificates, renewCertificates, restartedBy, signedCertificates } from './leaves.ts';
import { signingAuthority } from './signing-command.value.ts';

interface Names {
  readonly missing: readonly string[];
  /** Names that were removed from the inventory. Names that kbuild did not add stay in the certificate. */
  readonly dropped: readonly string[];
  readonly kept: readonly string[];
}

/**
 * The differences between the names in the API server's certificate and the inventory; undefined if there is no
 * certificate.
 */
function differing({ inventory, facts, fleet }: Target, removed: 'go' | 'stay'): Names | undefined {
  const certificate = facts.certificates.find(({ name }) => name === 'apiserver');
  if (certificate === undefined) return undefined;
  const wanted = apiServerNames(inventory);
  const noted = fleet.cluster.state === 'up' ? fleet.cluster.settings?.['cluster'] : undefined;
  const allowed = namesIn(clusterConfiguration(inventory));
  const dropped = namesIn((noted ?? {}) as JsonObject).filter(
    (name) => removed === 'go' && !allowed.includes(name) && certificate.names.includes(name),
  );
  return {
    missing: wanted.filter((name) => !certificate.names.includes(name)),
    dropped,
    kept: certificate.names.filter((name) => !dropped.includes(name)),
  };
}

/** The inventory with more names for the API servers. */
function withNames(inventory: Inventory, names: readonly string[]): Inventory {
  const { kubeadm } = inventory;
  const certSANs = [...new Set([...namesIn(kubeadm.cluster), ...names])];
  const apiServer = { ...(kubeadm.cluster['apiServer'] as JsonObject | undefined), certSANs };
  return { ...inventory, kubeadm: { ...kubeadm, cluster: { ...kubeadm.cluster, apiServer } } };
}

async function sign({ inventory: given, host }: Target, kept: readonly string[], on: On): Promise<void> {
  const inventory = withNames(given, kept);
  if (signingAuthority(inventory) !== undefined) {
    const signed = await signedCertificates(on(host), inventory, ['apiserver']);
    await on(host).job('renew-certificates', placeCertificates(inventory, host, ['apiserver']), signed);
    return;
  }
  const config = secretYaml([initConfiguration(inventory, host), clusterConfiguration(inventory)]);
  await on(host).job('renew-certificates', renewCertificates(inventory, host, ['apiserver'], 'by-configuration'), {
    'config.yaml': config,
  });
}

const signedFor = (removed: 'go' | 'stay'): Step => ({
  name: 'api-server-names',
  diff: (target) => {
    const { host } = target;
    if (host.role !== 'control-plane' || standing(target) !== 'joined') return [];
    const names = differing(target, removed);
    if (names === undefined || names.missing.length + names.dropped.length === 0) return [];
    const { missing, dropped, kept } = names;
    const found = [
      ...(missing.length === 0 ? [] : [`for ${missing.join(', ')} (found not in it)`]),
      ...(dropped.length === 0 ? [] : [`without ${dropped.join(', ')}`]),
    ];
    return [
      {
        summary: `sign the certificate of the API server of ${host.name} ${found.join(' and ')}`,
        apply: (on) => sign(target, kept, on),
      },
    ];
  },
});

/**
 * Signs the certificate of a joined control plane's API server for the names that the inventory gives it, with a new
 * key. The API server reloads it without a restart. Runs before kbuild records the settings: the recorded settings show
 * which names were removed.
 */
export const apiServerCertificateNames: Step = signedFor('go');

/** The same during a move of the endpoint: removed names stay, because clients still use the old endpoint. */
export const apiServerNamesAdded: Step = signedFor('stay');

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

/** @throws Refused when an authority that must sign has itself expired: no client would trust the new certificates */
function refuseEndedAuthority({ host, facts }: Target, names: readonly RenewedName[]): void {
  const ended = facts.certificates.find(
    ({ name, expires }) => Date.parse(expires) <= facts.nowMs && names.some((one) => authorityOf(one) === name),
  );
  if (ended === undefined) return;
  throw new Refused(
    'authority-ended',
    host.name,
    `the authority ${ended.name} ended ${ended.expires}, and no client trusts what it signs`,
    `give it a new end first: \`kbuild certs renew-ca ${ended.name}\``,
  );
}

/** Renews with the signing command where the authority has one. kubeadm signs the others with the keys on the host. */
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
 * Renews the certificates of a joined control plane, with new keys, when `due` says so. The API server and etcd reload
 * theirs without a restart. Does not wait for absent control planes: certificates expire in the meantime.
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
        summary:
          'renew certificates of the control plane on ' +
          `${host.name}: ${renewed.map(({ name, why }) => `${name} (found ${why})`).join(', ')}`,
        restarts: restartedBy(inventory, names).map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
        apply: (on) => renew(target, names, on),
      },
    ];
  },
});

/** The same for certificates that expire soon. */
export const renewedCertificates: Step = controlPlaneCertificates(nearItsEnd);
