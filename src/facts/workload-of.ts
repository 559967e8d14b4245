/** What `kubectl rollout restart` can restart. A ReplicaSet's name is its Deployment's and a hash. */
export function workloadOf(kind: string, name: string, hash: string): string {
  if (kind === 'DaemonSet' || kind === 'StatefulSet') return `${kind.toLowerCase()}/${name}`;
  if (kind === 'ReplicaSet' && hash !== '' && name.endsWith(`-${hash}`))
    return `deployment/${name.slice(0, -hash.length - 1)}`;
  return 'none';
}
