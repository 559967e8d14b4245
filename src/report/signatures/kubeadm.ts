import { basename } from 'node:path/posix';
import { CONTAINER_RUNTIMES } from '../../runtime/runtimes.value.ts';
import { RERUN, type Signature } from './signature.ts';

/** Sockets and units of the runtimes as the kubelet, kubeadm and systemd name them. */
const SOCKETS = CONTAINER_RUNTIMES.map(({ socket }) => basename(socket, '.sock')).join('|');
const JOURNALS = CONTAINER_RUNTIMES.map(({ unit }) => `journalctl -u ${unit}`).join(' or ');

/** Messages of kubeadm, etcd, the kubelet and the container runtime. */
export const kubeadmSignatures: readonly Signature[] = [
  {
    name: 'kubeadm-config',
    seen: /cannot unmarshal \S+ into Go struct field|strict decoding error: (?:unknown|duplicate) field/,
    cause:
      'a setting of kubeadm.* or kubelet.config is none of this version, or has another form than it is written in',
    remedy: '`kbuild validate` names its line, and `kbuild explain kubeadm.cluster` the form',
    setting: 'the setting that the message names (kubeadm.* or kubelet.config)',
  },
  {
    name: 'setting-without-effect',
    seen: / without effect: the kubelet runs with/,
    cause:
      'the kubelet was started with this setting and runs without it: a flag or a file of its --config-dir wins, or ' +
      'this version knows no such setting',
    remedy:
      'remove what wins over it on the host (/etc/default/kubelet or /etc/sysconfig/kubelet, drop-ins of ' +
      'kubelet.service), or the setting from the inventory',
    setting: 'the named setting of kubelet.config',
  },
  {
    name: 'resolv-conf',
    seen: /(?:sandbox config|resolv[^\n]{0,80})[^\n]{0,200}open \S*resolv\S*: no such file or directory/i,
    cause: 'the file that kubelet.config.resolvConf names is not on the host, so no pod starts',
    remedy:
      'name a file that the host has: /run/systemd/resolve/resolv.conf only where systemd-resolved runs, ' +
      '/etc/resolv.conf elsewhere; without the setting kubeadm chooses',
    setting: 'kubelet.config.resolvConf',
  },
  {
    name: 'kubelet-unknown-flag',
    seen: /failed to parse kubelet flag: unknown flag: (--[\w-]+)/,
    cause: 'the kubelet of this version has no such flag, and ends at once',
    remedy:
      'remove it where it stands: kubelet.extraArgs of the inventory, or /etc/default/kubelet ' +
      '(/etc/sysconfig/kubelet) of the host',
    setting: 'kubelet.extraArgs (or that file)',
  },
  {
    name: 'component-unknown-flag',
    // In the end of a container's log, the time stands before it.
    seen: /^(?:\d\d:\d\d:\d\d )?(?:Error|error): unknown flag: --[\w-]+/m,
    cause: 'a component of the control plane has no such flag in this version, and ends at once',
    remedy: 'remove it from the extraArgs of kubeadm.cluster: `kbuild validate` names its line',
    setting: 'the extraArgs of kubeadm.cluster that have the flag',
  },
  {
    name: 'conntrack-missing',
    seen: /open \/proc\/sys\/net\/netfilter\/nf_conntrack_max: no such file or directory/,
    cause: 'kube-proxy sets the size of the connection table, and the kernel module nf_conntrack is not loaded',
    remedy: 'modprobe nf_conntrack on the host (and a line nf_conntrack in /etc/modules-load.d/); then ' + RERUN,
  },
  {
    name: 'nft-sets',
    seen: /nftables sync failed[^\n]*segmentation fault|nft[^\n]{0,80}signal: segmentation fault/,
    cause:
      'the nft of this kube-proxy image is older than the nft of the host, and dies at a named set that another ' +
      'program (firewalld, fail2ban, /etc/nftables.conf) has made',
    remedy:
      'upgrade Kubernetes to a release with a mended image (`kbuild explain check kube-proxy-nft`), or set ' +
      'network.kubeProxy: iptables',
    setting: 'network.kubeProxy (or kubernetes.version)',
  },
  {
    name: 'upgrade-health-job',
    seen: /\[ERROR CreateJob\][^\n]*upgrade-health-check/,
    cause:
      'the pod that kubeadm starts before an upgrade did not end in time (15 s before Kubernetes 1.36, 60 s since): ' +
      'no node took it, or its image or sandbox is slow',
    remedy: `kubectl -n kube-system get pods,events shows why; ${RERUN}`,
  },
  {
    name: 'control-plane-slow',
    seen: /could not bootstrap the admin user in file admin\.conf: [^\n]*(?:context deadline exceeded|Timeout|timed out)/,
    cause: 'the new API server runs, and answers too slowly: etcd waits for the disk, or the host for a processor',
    remedy: `${RERUN}; if it stays: kbuild check --active measures the disk of /var/lib/etcd`,
  },
  {
    name: 'certificates-expired',
    seen: /Secret "kubeadm-certs" was not found in the "kube-system" Namespace/,
    cause: 'the certificates that kubeadm keeps for joining control planes live for two hours, and are gone',
    remedy: `${RERUN}: every join uploads them again`,
  },
  // Before the token: clocks that disagree make a good one look bad.
  {
    name: 'clock',
    seen: /x509: certificate has expired or is not yet valid/,
    cause: 'clocks disagree, or a certificate ran out',
    remedy: 'compare the clocks (kbuild check), and run a time service (chrony)',
  },
  {
    name: 'token-expired',
    seen: /(?:could not find a JWS signature in the cluster-info ConfigMap for token ID|token id .* is invalid for this cluster or it has expired|Unauthorized.*bootstrap)/i,
    cause: 'the join token is not valid any more',
    remedy: `${RERUN}: a token is made for every join`,
  },
  {
    name: 'several-runtimes',
    seen: /found multiple CRI endpoints on the host/,
    cause: 'several container runtimes are installed, and something called kubeadm without naming one',
    remedy: 'kbuild always names it: look for what else runs kubeadm on this host',
  },
  {
    name: 'cgroup-driver',
    seen: /misconfiguration: kubelet cgroup driver: "?\w+"? is different from \w+ cgroup driver/,
    cause: 'kubelet and runtime disagree about the cgroup driver',
    remedy: 'set runtime.cgroupDriver and run kbuild up',
  },
  {
    name: 'cgroup-v1',
    seen: /\[ERROR [^\n]*cgroups? v1 support is deprecated|kubelet is configured to not run on a host using cgroup v1/,
    cause: 'the host uses cgroup v1, on which this kubelet refuses to run',
    remedy:
      'boot the host with cgroup v2 (systemd.unified_cgroup_hierarchy=1), or set kubelet.config.failCgroupV1: false',
  },
  {
    name: 'etcd-members-missing',
    seen: /etcdserver: re-configuration failed due to not enough started members/,
    cause: 'etcd still lists a member that is dead',
    remedy: 'remove the dead host first: kbuild remove HOST --dead HOST',
  },
  {
    name: 'etcd-orphan',
    seen: /check-etcd.{0,4000}etcd cluster is not healthy|etcd cluster is not healthy: .{0,4000}2379: connect: connection refused/s,
    cause: 'a member that etcd lists does not answer: often one of a host that was reinstalled',
    remedy: 'kbuild status shows the members; kbuild remove takes the dead one away',
  },
  {
    name: 'etcd-too-many-learners',
    seen: /too many learner members in cluster/,
    cause:
      'another member is just joining, or was left as a learner; a member that etcd 3.5 promoted may be a learner ' +
      'again after an upgrade to etcd 3.6 (etcd-io/etcd #20793)',
    remedy: `${RERUN}: a learner that was left behind is removed first; \`kbuild status\` shows learners`,
  },
  {
    name: 'etcd-learner-behind',
    seen: /can only promote a learner member which is in sync with leader/,
    cause: 'the new etcd member did not catch up in time: a slow disk, or peers that do not reach it on port 2380',
    remedy: 'check the disk and port 2380 between the control planes, then run the same command again',
  },
  {
    name: 'etcd-nospace',
    seen: /etcdserver: mvcc: database space exceeded|alarm:NOSPACE/,
    cause: 'the etcd database reached its quota, so that nothing can be written',
    remedy: 'make room in it: `kbuild etcd defragment`',
  },
  {
    name: 'etcd-not-removed',
    seen: /\[reset\] Failed to remove etcd member/,
    cause: 'kubeadm reset could not take the host out of etcd',
    remedy: `${RERUN}: kbuild checks the members from another control plane`,
  },
  {
    name: 'etcd-reset-by-hand',
    seen: /Please, manually reset etcd to prevent further issues/,
    cause: 'kubeadm reset found no etcd of its own on the host',
    remedy: `${RERUN}: kbuild compares the members with the hosts`,
  },
  {
    name: 'port-in-use',
    seen: /\[ERROR Port-(\d+)\]: Port \d+ is in use|bind: address already in use/,
    cause: 'something else listens on a port that Kubernetes needs: a leftover, or a load balancer on the same host',
    remedy: 'find it with: ss -ltnp',
  },
  {
    name: 'mounted',
    seen: /still mounted in a folder that is to be emptied/,
    cause:
      'a volume or a disk is still mounted there, and a program of the host may use it: kbuild does not delete ' +
      'through a mount',
    remedy: `end the program (fuser -vm PATH) and unmount it (umount PATH); then ${RERUN}`,
  },
  {
    name: 'leftovers',
    seen: /\[ERROR (?:FileAvailable|DirAvailable)-/,
    cause: 'files of an earlier cluster lie on the host',
    remedy: 'kbuild check names the host and says what runs there, and how to clean it',
  },
  {
    name: 'crictl-missing',
    seen: /\[ERROR FileExisting-(\w+)\]/,
    cause: 'a program that kubeadm needs is not installed',
    remedy: `${RERUN}; if it stays, kbuild check names the package`,
  },
  {
    name: 'sandbox-image',
    seen: /detected that the sandbox image .* is inconsistent with that used by kubeadm/,
    cause: "the runtime's pause image is not kubeadm's: harmless, but images are pulled twice",
    remedy: `${RERUN}: kbuild writes the right one`,
  },
  ...CONTAINER_RUNTIMES.flatMap((runtime) =>
    runtime.signatures.map((one) => ({ ...one, remedy: `${RERUN}: ${one.remedy}` })),
  ),
  {
    name: 'runtime-late',
    seen: /(?:could not connect to the container runtime|container runtime is not running|validate CRI v1 \w+ API)[^\n]*DeadlineExceeded/,
    cause:
      'the container runtime runs and does not answer in time: the host is busy, its disk is slow, or the ' +
      'runtime hangs',
    remedy: `${RERUN}; if it stays, see what keeps the runtime: ${JOURNALS}`,
  },
  {
    name: 'runtime-down',
    // A kubelet that loses it for a moment prints another message.
    seen: new RegExp(
      'container runtime is not running|(?:validate service connection|failed to run ' +
        `Kubelet)[^\\n]*(?:${SOCKETS})\\.sock: connect: (?:no such file or directory|connection refused)`,
    ),
    cause: 'the container runtime does not run, or its socket is not where Kubernetes looks for it',
    remedy: `${RERUN}: kbuild starts it; if it does not stay up: ${JOURNALS}`,
  },
  {
    name: 'node-exists',
    seen: /a Node with name "[^"]*" and status "?\w+"? already exists in the cluster/i,
    cause: 'the cluster has a node of this name: another host, or this one before it was reinstalled',
    remedy: 'kbuild remove HOST takes the old node away; or give the host another name',
  },
  {
    name: 'swap-on',
    seen: /running with swap on is not supported/i,
    cause: 'swap is on, and the kubelet refuses to start',
    remedy: `${RERUN}: kbuild turns swap off; if it comes back at boot, look for what turns it on (zram, a swap unit)`,
  },
  {
    name: 'sandbox-runc',
    seen: /apparmor.*DENIED.*runc|unable to (?:apply|load) apparmor profile|unable to signal init: permission denied/i,
    cause:
      'AppArmor forbids the runtime to start or stop containers; some systems have a profile for /usr/sbin/runc that ' +
      'forbids it to end pods, which stay Terminating (opencontainers/runc #4281)',
    remedy:
      'install or upgrade the package apparmor; a program at /usr/bin/runc, as kbuild installs it, is not under that ' +
      'profile; at once: `apparmor_parser -R /etc/apparmor.d/runc`',
  },
];
