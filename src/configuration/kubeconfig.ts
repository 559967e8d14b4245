import { kubeconfigOf, withInClusters } from '../shell/decode.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { secretYaml } from './secret-yaml.ts';

/**
 * The administrator's kubeconfig for use outside the hosts: admin.conf of a control plane with the cluster's endpoint
 * as its server. Throws if the text is not a kubeconfig.
 */
export function adminKubeconfig(adminConf: Secret, endpoint: string): Secret {
  const config = kubeconfigOf(revealed(adminConf));
  if (config.clusters.length === 0) throw new Error('admin.conf names no cluster');
  return secretYaml([withInClusters(config, { server: `https://${endpoint}` })]);
}
