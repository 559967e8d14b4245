import { standing } from '../cluster/standing.ts';
import { apiServerNames, clusterConfiguration, initConfiguration, namesIn } from '../configuration/kubeadm-config.ts';
import { renewCertificates } from '../configuration/renewed-certificates.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { placeCertificates, signedCertificates } from '../configuration/signed-certificates.ts';
import { signingAuthority } from '../configuration/signing.ts';
import type { Step, Target } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { On } from '../remote/remote.ts';

interface Names {
  readonly missing: readonly string[];
  /** Names that the inventory had and has no more. What kbuild did not put there stays. */
  readonly dropped: readonly string[];
  readonly kept: readonly string[];
}

/** How the names of the API server's certificate on a host differ from the inventory; undefined where there is none. */
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
 * Signs the certificate of a joined control plane's API server for the names that the inventory gives it, with a new key. The API
 * server reads it again without a restart. It runs before the settings are noted, by which it knows the names that were removed.
 */
export const apiServerCertificateNames: Step = signedFor('go');

/** The same while the endpoint moves: names that the inventory no longer has stay, because clients still come by the old endpoint. */
export const apiServerNamesAdded: Step = signedFor('stay');
