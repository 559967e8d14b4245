import type { WindowsSignature } from './signature.ts';

/** Limitations of Windows, or of Kubernetes on Windows, that look like problems. */
export const limitations: readonly WindowsSignature[] = [
  {
    name: 'no-outbound-ping',
    symptom: 'Pods cannot ping the outside',
    see: 'by TCP the same address answers: `curl.exe -v telnet://HOST:PORT`',
    cause: 'outbound NAT of Windows translates TCP and UDP, not ICMP',
    remedy: 'test with TCP (curl.exe, Test-NetConnection -Port)',
    mends: 'limit',
  },
  {
    name: 'node-port-from-node',
    symptom: 'A NodePort does not answer on the Windows node itself',
    see: 'from another host it does',
    cause: 'the network of Windows does not send a node’s own packets through kube-proxy’s rules',
    remedy: 'ask from outside, or from another node',
    mends: 'limit',
  },
  {
    name: 'service-from-node',
    symptom: 'A Service address does not answer on the Windows node itself',
    see: 'from a pod of the node it does',
    cause: 'only pods have the route to Services; HostProcess pods are the node',
    remedy: 'ask from a pod; programs of the node use the address of the API endpoint',
    mends: 'limit',
  },
  {
    name: 'dns-suffix',
    symptom: 'Names resolve in Linux pods and not in Windows pods; nslookup and Resolve-DnsName disagree',
    see: '`Resolve-DnsName NAME.NAMESPACE.svc.cluster.local`',
    cause:
      'a Windows pod has one DNS suffix, that of its namespace; a name with a dot is taken for whole; nslookup does not use the resolver of Windows; ClusterFirstWithHostNet is not supported',
    remedy: 'use whole names, and Resolve-DnsName to test',
    mends: 'limit',
  },
];
