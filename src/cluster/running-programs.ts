import { FactError } from '../errors.ts';
import { paths } from '../paths.ts';
import type { Observed } from './fleet/fleet.ts';

/** Programs of a cluster, by process name as `ss` prints it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  kubelet: 'a kubelet',
  'kube-apiserver': 'an API server',
  etcd: 'etcd',
  k3s: 'k3s',
  'k3s-server': 'k3s',
  'k3s-agent': 'k3s',
  rke2: 'RKE2',
  kubelite: 'MicroK8s',
  k0s: 'k0s',
};

const HEALTHY_KUBELET = 'a kubelet';

function running({ os, facts }: Observed): readonly string[] {
  const listening = os === 'linux' ? facts.listeners.flatMap(({ process }) => PROGRAMS[process] ?? []) : [];
  return [...new Set([...(facts.kubeletHealthy ? [HEALTHY_KUBELET] : []), ...listening])].sort();
}

/**
 * The programs of a cluster that run on the host, as text for a message; empty if none runs. An unknown fact counts as
 * a running program, so kbuild never calls a host dead that it could not observe.
 */
export function runningPrograms(observed: Observed): readonly string[] {
  try {
    return running(observed);
  } catch (error) {
    if (error instanceof FactError) return [`something that could not be read (${error.message})`];
    throw error;
  }
}

/**
 * How to clean leftovers from a host, in one sentence. Names `kbuild reset` only if no program of a cluster runs.
 * Throws `FactError` when a fact that it needs is unknown.
 */
export function cleaningAdvice(observed: Observed, reset: string): string {
  const { host, facts } = observed;
  const alive = runningPrograms(observed);
  if (alive.length > 0)
    return (
      `a cluster may live there (${alive.join(', ')} runs on ${host.name}): find out which, and take ` +
      `${host.name} out of this inventory`
    );
  const data = facts.kubernetesTraces.has(`${paths.etcdData}/member`)
    ? `; it deletes the etcd data in ${paths.etcdData}: copy that folder first if a cluster may need it`
    : '';
  return (
    `take ${host.name} out of the inventory, or, if no cluster needs what is on it, clean it with ` +
    `\`${reset}\`${data}`
  );
}
