import { objectKey } from '../../facts/cluster.ts';
import { KUBEADMS_PROGRAMS } from '../../inventory/kubeadms-programs.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { windowsHosts } from '../../topology/select.ts';
import type { Check } from '../check.ts';

interface Workload {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly nodeSelector?: Readonly<Record<string, string>>; readonly affinity?: object };
    };
  };
}

const OS = 'kubernetes.io/os';

/** True if the workload has a nodeSelector for Linux, or an affinity that names the operating system. */
function selectsLinux(live: JsonObject): boolean {
  const { nodeSelector, affinity } = (live as Workload).spec?.template?.spec ?? {};
  return nodeSelector?.[OS] === 'linux' || JSON.stringify(affinity ?? {}).includes(OS);
}

export const windowsSelectors: Check = {
  name: 'windows-selectors',
  title: 'kube-proxy and CoreDNS of the cluster select Linux nodes, where there are Windows hosts',
  why: 'kubeadm writes them so. If the selectors were changed, pods that never start are scheduled to Windows nodes, since kube-proxy tolerates every taint and CoreDNS some. `up` would wait for them in vain.',
  severities: ['error'],
  test: ({ inventory, fleet: { cluster } }) => {
    if (cluster.state !== 'up' || windowsHosts(inventory).length === 0) return [];
    return KUBEADMS_PROGRAMS.flatMap((program) => {
      const live = cluster.objects.get(objectKey(program));
      if (live === undefined || selectsLinux(live)) return [];
      const { kind, metadata } = program;
      const what = `${kind.toLowerCase()} ${metadata.name}`;
      return [
        {
          severity: 'error' as const,
          message: `the ${what} in ${metadata.namespace} does not select Linux nodes: Windows nodes would get its pods`,
          remedy: `kubectl -n ${metadata.namespace} patch ${what} --type merge -p '{"spec":{"template":{"spec":{"nodeSelector":{"${OS}":"linux"}}}}}'`,
        },
      ];
    });
  },
};
