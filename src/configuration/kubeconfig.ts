import { parse } from 'yaml';
import { revealed, type Secret } from '../shell/secret.ts';
import { secretYaml } from './secret-yaml.ts';

interface Kubeconfig {
  readonly clusters?: readonly { readonly cluster: object }[];
}

/**
 * The administrator's kubeconfig for use outside the hosts: admin.conf of a control plane with the cluster's endpoint
 * as its server. Throws if the text is not a kubeconfig.
 */
export function adminKubeconfig(adminConf: Secret, endpoint: string): Secret {
  const config = parse(revealed(adminConf)) as Kubeconfig | null;
  const found = config?.clusters ?? [];
  if (found.length === 0) throw new Error('admin.conf names no cluster');
  const clusters = found.map((entry) => ({
    ...entry,
    cluster: { ...entry.cluster, server: `https://${endpoint}` },
  }));
  return secretYaml([{ ...config, clusters }]);
}
