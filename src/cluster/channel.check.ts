import type { Check, CheckGroup } from '../engine/check.ts';

const apiChannel: Check = {
  name: 'api-channel',
  title: 'kbuild asks the cluster through forwarded connections of its control planes',
  why: "kbuild asks the API server and etcd over channels of its SSH connection (`direct-tcpip`), which costs the host one small script. Where sshd forbids that (`AllowTcpForwarding no`, `PermitOpen`, `DisableForwarding yes`), or the administrator's kubeconfig holds no certificate, kbuild runs kubectl and etcdctl on the control plane instead: the facts are the same, and each observation takes longer ([security](security.md#what-kbuild-reads-of-the-cluster)). `AllowTcpForwarding local` in sshd_config is enough.",
  severities: ['warning'],
  test: ({ fleet: { cluster } }) =>
    cluster.state === 'up' && cluster.detour !== undefined
      ? [
          {
            severity: 'warning',
            host: cluster.via,
            message: `kubectl on the host asks the cluster, because its SSH connection cannot (${cluster.detour})`,
            remedy:
              'allow it in sshd_config (AllowTcpForwarding local, PermitOpen any) to observe in less time, or ignore this check',
          },
        ]
      : [],
};

/** The checks of how the cluster is asked. */
export const channelChecks: CheckGroup = { fleet: [apiChannel] };
