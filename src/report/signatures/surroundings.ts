import { RERUN, type Signature } from './signature.ts';

/** Messages of any program about wrong clocks, certificates, networks and machines. */
export const surroundingsSignatures: readonly Signature[] = [
  {
    name: 'foreign-ca',
    seen: /x509: certificate signed by unknown authority|cluster CA found in cluster-info ConfigMap is invalid/,
    cause: 'the API server that answered belongs to another cluster, or something between rewrites TLS',
    remedy: 'check kubernetes.endpoint, the load balancer and the proxy',
  },
  {
    name: 'name-not-in-certificate',
    seen: /x509: certificate is valid for .*, not /,
    cause: "the endpoint's name is not in the API server's certificate",
    remedy: 'put it under kubernetes.endpoint, or kubeadm.cluster.apiServer.certSANs',
  },
  {
    name: 'proxy',
    seen: /proxyconnect tcp|Proxy Authentication Required|\b407\b.*proxy/i,
    cause: 'the proxy does not answer, or refuses',
    remedy: 'check proxy of the inventory',
  },
  {
    name: 'name-unresolved',
    // Go names the server that it queried: `lookup k8s.io on 10.0.0.2:53: …`.
    seen: /Temporary failure (?:in name resolution|resolving)|no such host|Could not resolve|lookup \S+(?: on \S+)?: (?:server misbehaving|(?:read \w+ \S+: )?i\/o timeout)/,
    cause: 'a name does not resolve on the host',
    remedy: "check the host's DNS (/etc/resolv.conf), or set kubernetes.endpointInHosts",
  },
  {
    name: 'image-pull',
    seen: /failed to pull image|ErrImagePull|ImagePullBackOff|failed to resolve reference/,
    cause: 'an image could not be pulled: the registry is not reached, or does not have it',
    remedy: 'check runtime.registries, kubernetes.imageRepository and the proxy',
  },
  {
    name: 'endpoint-refused',
    symptom: true,
    seen: /dial tcp \S+:\d+: connect: connection refused/,
    cause: 'nothing listens at the address: the load balancer has no healthy server, or the API server is down',
    remedy: 'kbuild status shows the API servers; is kubernetes.endpoint right?',
  },
  {
    name: 'endpoint-timeout',
    symptom: true,
    seen: /dial tcp \S+: (?:i\/o timeout|connect: no route to host)|(?<!to terminate: )context deadline exceeded/,
    cause: 'packets to the address get lost: a firewall, or a wrong address',
    remedy: 'check the firewalls between the hosts (kbuild check --active tests every port)',
  },
  {
    name: 'disk-full',
    seen: /No space left on device|You don't have enough free space|more space needed on the \S+ filesystem/,
    cause: 'a disk, or its inodes, are full',
    remedy: 'make room: df -h; df -i',
  },
  {
    name: 'read-only',
    seen: /Read-only file system/,
    cause: 'a file system is mounted read-only: often after an error of the disk',
    remedy: 'find the error with `dmesg`, repair the disk, and mount the file system again',
  },
  {
    name: 'no-memory',
    seen: /Out of memory: Killed process|Cannot allocate memory|SIGKILL \(oom-kill\)/,
    cause: 'the host ran out of memory',
    remedy: 'give it more; a control plane needs 2 GiB',
  },
  {
    name: 'module',
    seen: /modprobe: FATAL: Module (\S+) not found/,
    cause: 'the kernel has no such module',
    remedy: 'install the package with the modules of the running kernel, or restart into the kernel that is installed',
  },
  {
    name: 'selinux',
    seen: /avc: {1,2}denied/,
    cause: 'SELinux forbids what Kubernetes or the runtime does',
    remedy: 'ausearch -m avc shows what: install container-selinux and restore the labels, or make SELinux permissive',
  },
  {
    name: 'kubelet-unhealthy',
    symptom: true,
    seen: /The kubelet is not (?:running|healthy)|The HTTP call equal to 'curl -sSL http:\/\/(?:localhost|127\.0\.0\.1):10248\/healthz'/,
    cause: 'the kubelet does not stay up',
    remedy: "its last words are below; the kubelet's configuration is under kubelet.config",
  },
  {
    name: 'control-plane-unhealthy',
    symptom: true,
    seen: /A control plane component may have crashed|control plane components? .* (?:is|are) not healthy|timed out waiting for the condition/,
    cause: 'a component of the control plane did not come up in time',
    remedy: 'the last words of those that ended are below',
  },
  {
    name: 'host-restarted',
    symptom: true,
    seen: /the job is not there any more: was the host restarted/,
    cause: 'the host was restarted while it worked',
    remedy: `${RERUN}: it goes on from what it finds`,
  },
];
