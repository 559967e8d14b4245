import { parse } from 'yaml';
import { kubeconfigOf, withInClusters } from '../shell/decode.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { secretYaml } from '../shell/yaml.ts';

/**
 * The administrator's kubeconfig for use outside the hosts: admin.conf of a control plane with another server (a URL).
 * Throws if the text is not a kubeconfig.
 */
export function adminKubeconfig(adminConf: Secret, server: string): Secret {
  const config = kubeconfigOf(revealed(adminConf));
  if (config.clusters.length === 0) throw new Error('admin.conf names no cluster');
  return secretYaml([withInClusters(config, { server })]);
}

interface Named {
  readonly name: string;
}

interface Kubeconfig {
  readonly clusters?: readonly (Named & { readonly cluster: { readonly 'certificate-authority-data'?: string } })[];
  readonly users?: readonly Named[];
  readonly contexts?: readonly (Named & { readonly context: { readonly cluster: string; readonly user: string } })[];
  readonly 'current-context'?: string;
}

const read = (text: string): Kubeconfig => (parse(text) as Kubeconfig | null) ?? {};

const without = <T extends Named>(entries: readonly T[] | undefined, gone: readonly string[]): readonly T[] =>
  (entries ?? []).filter(({ name }) => !gone.includes(name));

/**
 * Merges a cluster's entries into a kubeconfig file. kubeadm names every administrator `kubernetes-admin`; here the
 * context names the user, so that two clusters do not overwrite each other's credentials. Other entries stay. The
 * merged context becomes the current one only if the file has none.
 */
export function mergedKubeconfig(into: string, added: Secret): Secret {
  const before = read(into);
  const { clusters = [], users = [], contexts = [], 'current-context': current } = read(revealed(added));
  const rename = (user: string): string => contexts.find(({ context }) => context.user === user)?.name ?? user;
  const newUsers = users.map((user) => ({ ...user, name: rename(user.name) }));
  const newContexts = contexts.map((one) => ({ ...one, context: { ...one.context, user: rename(one.context.user) } }));
  const names = (entries: readonly Named[]): readonly string[] => entries.map(({ name }) => name);
  return secretYaml([
    {
      apiVersion: 'v1',
      kind: 'Config',
      ...before,
      clusters: [...without(before.clusters, names(clusters)), ...clusters],
      users: [...without(before.users, names(newUsers)), ...newUsers],
      contexts: [...without(before.contexts, names(newContexts)), ...newContexts],
      'current-context': (before['current-context'] ?? '') === '' ? current : before['current-context'],
    },
  ]);
}

/**
 * The file without the merged entries of a cluster, identified by name and CA (base64 of its PEM, as in kubeconfigs);
 * undefined if the file has none.
 */
export function withoutCluster(text: string, cluster: string, caData: string): Secret | undefined {
  const before = read(text);
  const ours = before.clusters?.some(
    (one) => one.name === cluster && one.cluster['certificate-authority-data'] === caData,
  );
  if (ours !== true) return undefined;
  const contexts = (before.contexts ?? []).filter(({ context }) => context.cluster === cluster);
  const gone = contexts.map(({ name }) => name);
  const users = contexts.map(({ context }) => context.user);
  return secretYaml([
    {
      ...before,
      clusters: without(before.clusters, [cluster]),
      contexts: without(before.contexts, gone),
      users: without(before.users, users),
      'current-context': gone.includes(before['current-context'] ?? '') ? '' : before['current-context'],
    },
  ]);
}
