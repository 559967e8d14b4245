import { standing } from '../cluster/standing.ts';
import { apiServerNames, clusterConfiguration, initConfiguration, namesIn } from '../configuration/kubeadm-config.ts';
import { renewCertificates } from '../configuration/renewed-certificates.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { placeCertificates, signedCertificates } from '../configuration/signed-certificates.ts';
import { signingAuthority } from '../configuration/signing.ts';
import type { Step, Target } from '../engine/step.ts';
import type { JsonObject } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';

interface Names {
  readonly missing: readonly string[];
  /** Names that the inventory had and has no more. What kbuild did not put there stays. */
  readonly dropped: readonly string[];
  readonly kept: readonly string[];
}

/** How the names of the API server's certificate on a host differ from the inventory; undefined where there is none. */
function differing({ inventory, facts, fleet }: Target): Names | undefined {
  const certificate = facts.certificates.find(({ name }) => name === 'apiserver');
  if (certificate === undefined) return undefined;
  const wanted = apiServerNames(inventory);
  const noted = fleet.cluster.state === 'up' ? fleet.cluster.settings?.['cluster'] : undefined;
  const allowed = namesIn(clusterConfiguration(inventory));
  const dropped = namesIn((noted ?? {}) as JsonObject).filter(
    (name) => !allowed.includes(name) && certificate.names.includes(name),
  );
  return {
    missing: wanted.filter((name) => !certificate.names.includes(name)),
    dropped,
    kept: certificate.names.filter((name) => !dropped.includes(name)),
  };
}

async function sign({ inventory, host }: Target, kept: readonly string[], on: On): Promise<void> {
  if (signingAuthority(inventory) !== undefined) {
    const signed = await signedCertificates(on(host), inventory, ['apiserver']);
    await on(host).job('renew-certificates', placeCertificates(inventory, host, ['apiserver']), signed);
    return;
  }
  const cluster = clusterConfiguration(inventory);
  const certSANs = [...new Set([...namesIn(cluster), ...kept])];
  const config = secretYaml([
    initConfiguration(inventory, host),
    { ...cluster, apiServer: { ...(cluster['apiServer'] as JsonObject), certSANs } },
  ]);
  await on(host).job('renew-certificates', renewCertificates(inventory, host, ['apiserver'], 'by-configuration'), {
    'config.yaml': config,
  });
}

/**
 * Signs the certificate of a joined control plane's API server for the names that the inventory gives it, with a new key. The API
 * server reads it again without a restart. It runs before the settings are noted, by which it knows the names that were removed.
 */
export const apiServerCertificateNames: Step = {
  name: 'api-server-names',
  diff: (target) => {
    const { host } = target;
    if (host.role !== 'control-plane' || standing(target) !== 'joined') return [];
    const names = differing(target);
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
};
