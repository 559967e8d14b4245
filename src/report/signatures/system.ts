import { RERUN, type Signature } from './signature.ts';

/** Messages of apt and dpkg, of dnf and dnf5, zypper and rpm. */
export const packageSignatures: readonly Signature[] = [
  {
    name: 'apt-lock',
    seen: /Could not get lock|is locked by another process|gave up after \d+ s: \S+ is held by/,
    cause: 'another program installs packages, and did not end in ten minutes',
    remedy: 'let it end (unattended-upgrades, cloud-init); kbuild never kills it',
  },
  {
    name: 'key-expired',
    seen: /EXPKEYSIG|The following signatures were invalid: EXPKEYSIG|key .* expired/i,
    cause: "the repository's signing key has expired",
    remedy:
      `${RERUN}: once a day kbuild fetches a key again that has run out. If it stays, set repository.key to a ` +
      'copy that the vendor has extended',
  },
  {
    name: 'lists-expired',
    seen: /Release file for \S+ is expired/,
    cause: "the repository's lists have expired: a mirror that is no longer updated, or a clock that is ahead",
    remedy: 'choose another mirror (repository.url), or set the clock of the host',
  },
  {
    name: 'key-missing',
    seen: /NO_PUBKEY|The following signatures couldn't be verified|GPG check FAILED|Public key for \S+ is not installed|New repository or package signing key received|OpenPGP check for package \S+ .*has failed/,
    cause: 'the repository is signed with another key than the one of the inventory',
    remedy: 'compare repository.key and repository.fingerprint with what the repository publishes',
  },
  {
    name: 'not-signed',
    seen: /repository .* is not signed|does not have a Release file|File '\S+' from repository '\S+' is unsigned|Repository type can't be determined|Failed to download metadata \(baseurl/,
    cause: 'the repository is not there, or not signed',
    remedy: 'check repository.url: is it reached from the host (proxy)?',
  },
  {
    name: 'hash-mismatch',
    seen: /Hash Sum mismatch|File has unexpected size|checksum mismatch|checksum doesn't match|Package \S+ is not signed|Digest verification failed|modified after it has been signed/i,
    cause: 'a package is not what the repository says it is: a mirror in the middle of an update, or a broken proxy',
    remedy: `${RERUN} later; if it stays, go round the mirror or proxy`,
  },
  {
    name: 'package-gone',
    seen: /404 {2}Not Found|is in no repository of this host|Status code: 404 for|' not found on medium '/,
    cause: 'the repository does not have this version',
    remedy: 'choose a version that it has, or check repository.url',
  },
  {
    name: 'package-excluded',
    seen: /is excluded by the settings of dnf on this host/,
    cause: 'an exclude= of the host hides the package that kbuild is to install',
    remedy: 'take the package out of that exclude=; kbuild locks its packages at their versions itself',
  },
  {
    name: 'package-locked',
    seen: /is locked by the settings of zypper on this host/,
    cause: 'a lock of the host keeps the package that kbuild is to install as it is',
    remedy: 'take the lock away: zypper removelock NAME; kbuild locks its packages at their versions itself',
  },
  {
    name: 'dpkg-interrupted',
    seen: /dpkg was interrupted|dpkg: error processing package (\S+)/,
    cause: 'an installation broke off, and finishing it failed',
    remedy: 'the package that is named does not configure: see its output in the log',
  },
  {
    name: 'dependencies',
    seen: /unmet dependencies|held broken packages|Problem: conflicting requests|nothing provides \S+ needed by/,
    cause: 'packages of the host contradict each other',
    remedy: 'mend them on the host (apt-get -f install, dnf check, zypper verify), then run the same command again',
  },
];

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
    remedy: 'the ends of their logs are below',
  },
  {
    name: 'host-restarted',
    symptom: true,
    seen: /the job is not there any more: was the host restarted/,
    cause: 'the host was restarted while it worked',
    remedy: `${RERUN}: it goes on from what it finds`,
  },
];
