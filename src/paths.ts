/** The first words of the files that kbuild writes: how it tells its own files from others'. */
export const OWN_HEADER = '# Written by kbuild';

/**
 * Files and folders that kbuild writes on a Linux host, except those of container runtimes (`runtime/`) and of package
 * managers (`host/packages/`). `reset` removes them or restores what was there before.
 */
export const paths = {
  /** Volatile state: lock, jobs. A tmpfs, so a reboot clears it. */
  run: '/run/kbuild',
  lock: '/run/kbuild/lock',
  jobLock: '/run/kbuild/job.lock',
  /** Held while a job is being started. */
  jobStartLock: '/run/kbuild/job-start.lock',
  /** Folders of jobs: <run>/<job>. */
  jobs: '/run/kbuild/jobs',
  /** /etc/kubernetes with its keys, while it is copied to the operator's machine. */
  keptKubernetes: '/run/kbuild/etc-kubernetes.tar',
  /** The configuration that kubeadm has accepted before it created the cluster. */
  acceptedConfig: '/run/kbuild/kubeadm-accepted.yaml',
  /** Hashes of what services loaded, by service. */
  applied: '/run/kbuild/applied',
  /** Durable state: the marker and the owner's notes. */
  state: '/var/lib/kbuild',
  marker: '/var/lib/kbuild/marker.json',
  /** The marker of another action, while a restore of etcd goes on: it comes back when the restore has ended. */
  markerKept: '/var/lib/kbuild/marker-kept.json',
  /** A file for each Kubernetes version whose packages and images an upgrade has downloaded. */
  upgrade: '/var/lib/kbuild/upgrade',
  /**
   * The boot id of a host that `kbuild reboot` is to restart, from before. Gone when all hosts of that run are through.
   */
  reboot: '/var/lib/kbuild/reboot',
  /** Manifests of a control plane whose etcd is being restored. */
  restoreAside: '/var/lib/kbuild/restore',
  /** A backup's snapshot, until kubeadm's init makes etcd's data of it. */
  backupSnapshot: '/var/lib/kbuild/backup-snapshot.db',
  /** Names the backup from which this control plane's cluster was brought back. */
  restoredFrom: '/var/lib/kbuild/restored-from',
  /** A folder in that of etcd's data, for what is made of a snapshot. */
  restoreWork: 'kbuild-restore',
  /** Paths of `files:` that were written, one a line, and what was there before. */
  distributed: '/var/lib/kbuild/files',
  replaced: '/var/lib/kbuild/replaced',
  fstabBackup: '/etc/fstab.kbuild-backup',

  modulesLoad: '/etc/modules-load.d/kbuild.conf',
  sysctl: '/etc/sysctl.d/99-zz-kbuild.conf',
  zramGenerator: '/etc/systemd/zram-generator.conf',

  networkManager: '/etc/NetworkManager/conf.d/90-kbuild.conf',

  firewallRules: '/etc/kbuild-firewall.rules',
  firewallScript: '/etc/kbuild-firewall.sh',
  firewallUnit: '/etc/systemd/system/kbuild-firewall.service',

  /** What `installFrom: binaries` installed: a file for each, with its version and its programs. */
  programs: '/var/lib/kbuild/programs',
  /** Files of certificate authorities that were put into the system's store, one a line. */
  trustedCas: '/var/lib/kbuild/trusted-cas',
  programPath: '/etc/profile.d/kbuild-path.sh',
  kubeletUnit: '/etc/systemd/system/kubelet.service',
  kubeletDropIn: '/etc/systemd/system/kubelet.service.d/10-kubeadm.conf',

  kubeletProxy: '/etc/systemd/system/kubelet.service.d/90-kbuild-proxy.conf',

  haproxyConfig: '/etc/haproxy/haproxy.cfg',
  haproxyConfigBackup: '/etc/haproxy/haproxy.cfg.kbuild-backup',
  /** Where root tells haproxy to which API servers it may lead. In /run itself, where SELinux lets haproxy have one. */
  haproxySocket: '/run/kbuild-haproxy.sock',
  keepalivedConfig: '/etc/keepalived/keepalived.conf',
  keepalivedConfigBackup: '/etc/keepalived/keepalived.conf.kbuild-backup',
  checkApiserver: '/etc/keepalived/check-apiserver',
  kubeVipManifest: '/etc/kubernetes/manifests/kube-vip.yaml',

  kubeadmPatches: '/etc/kubernetes/patches',
  etcdManifest: '/etc/kubernetes/manifests/etcd.yaml',
  /** kubeadm's default; the fact `etcdFolder` says where it is. */
  etcdData: '/var/lib/etcd',
  etcdKubeletConfig: '/etc/kubernetes/etcd-kubelet.yaml',
  etcdKubeletDropIn: '/etc/systemd/system/kubelet.service.d/90-kbuild-etcd.conf',
  etcdCa: '/etc/kubernetes/pki/etcd/ca.crt',
  etcdCaKey: '/etc/kubernetes/pki/etcd/ca.key',
  etcdClientCertificate: '/etc/kubernetes/pki/apiserver-etcd-client.crt',
  etcdClientKey: '/etc/kubernetes/pki/apiserver-etcd-client.key',
  adminConf: '/etc/kubernetes/admin.conf',
} as const;

/** Every file and folder that kbuild writes on a Windows host. `reset` takes all of them back. */
export const windowsPaths = {
  /** Programs: kubelet.exe, kubeadm.exe, crictl.exe and friends; kbuild owns the folder whole. */
  programs: 'C:\\k',
  /** Programs that an upgrade has downloaded, in a folder for each Kubernetes version. */
  upgrade: 'C:\\k\\upgrade',
  state: 'C:\\ProgramData\\kbuild',
  jobs: 'C:\\ProgramData\\kbuild\\jobs',
  lock: 'C:\\ProgramData\\kbuild\\lock',
  /** Held while a job is being started. */
  jobStartLock: 'C:\\ProgramData\\kbuild\\job-start.lock',
  /** Files that were transferred, until they are moved to their places. */
  incoming: 'C:\\ProgramData\\kbuild\\incoming',
  marker: 'C:\\ProgramData\\kbuild\\marker.json',
  /** Lies there where kbuild added the route to 169.254.169.254. */
  metadataRoute: 'C:\\ProgramData\\kbuild\\metadata-route',

  kubernetes: 'C:\\etc\\kubernetes',
  kubeletConf: 'C:\\etc\\kubernetes\\kubelet.conf',
  kubeadmPatches: 'C:\\etc\\kubernetes\\patches',
  manifests: 'C:\\etc\\kubernetes\\manifests',
  kubelet: 'C:\\var\\lib\\kubelet',
  kubeletConfig: 'C:\\var\\lib\\kubelet\\config.yaml',
  kubeletFlags: 'C:\\var\\lib\\kubelet\\kubeadm-flags.env',
  kubeletLog: 'C:\\var\\log\\kubelet',

  containerd: 'C:\\Program Files\\containerd',
  containerdConfig: 'C:\\Program Files\\containerd\\config.toml',
  certsD: 'C:\\Program Files\\containerd\\certs.d',
  containerdData: 'C:\\ProgramData\\containerd',
  containerdPipe: '\\\\.\\pipe\\containerd-containerd',
  crictlConfig: 'C:\\k\\crictl.yaml',

  cniBin: 'C:\\opt\\cni\\bin',
  cniConfig: 'C:\\etc\\cni\\net.d',
  cniState: 'C:\\var\\lib\\cni',
  kubeProxyState: 'C:\\var\\lib\\kube-proxy',
  /** The copy of kubeadm's kubeconfig that pods of kube-proxy read; it holds no secret. */
  kubeProxyPod: 'C:\\var\\lib\\kube-proxy-windows',
  kubeProxyKubeconfig: 'C:\\var\\lib\\kube-proxy-windows\\kubeconfig.conf',
  kubeProxyLog: 'C:\\var\\log\\kube-proxy',
  sourceVip: 'C:\\sourcevip',
  sourceVipFile: 'C:\\sourcevip\\sourceVip.json',
} as const;

/**
 * Folders of a Windows host whose programs SYSTEM runs, or that name these programs. Windows itself protects C:\Program
 * Files.
 */
export const programFolders: readonly string[] = [windowsPaths.programs, windowsPaths.cniBin, windowsPaths.cniConfig];
