import { eachHost } from './each-host.ts';

export const resolverLoop = eachHost(
  {
    name: 'resolver-loop',
    title: 'pods do not inherit a name server on the loopback interface',
    why: 'CoreDNS takes over the host\'s servers. One at 127.0.0.0/8 is CoreDNS itself there, and it stops with "Loop … detected". kubeadm knows systemd-resolved\'s stub; for any other local server name a file with real ones in `kubelet.config.resolvConf`.',
    severities: ['error'],
  },
  ({ host, facts: { resolver } }) => {
    if (host.kubelet.config['resolvConf'] !== undefined) return [];
    const handedOn = resolver.upstream === 'absent' ? resolver.nameservers : resolver.upstream;
    const local = handedOn.filter((address) => address.startsWith('127.') || address === '::1');
    if (local.length === 0) return [];
    return [
      {
        severity: 'error',
        message: `its name server is ${local.join(', ')}, which would be CoreDNS itself inside a pod`,
        remedy: 'write a file with the real servers and name it in kubelet.config.resolvConf',
      },
    ];
  },
);
