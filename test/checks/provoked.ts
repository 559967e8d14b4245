const LAB = 'lab: ';

/** Where the fault that a check finds was made on a real host, by check: the last table of docs/checks.md. */
export const provoked: Readonly<Record<string, string>> = {
  'half-finished': `${LAB}a join that was cut off, by its marker and what kubeadm leaves`,
  swap: `${LAB}a swap unit in /etc/systemd/system`,
  sysctls: `${LAB}a later file that switches forwarding off`,
  'disk-space': `${LAB}a file system of 1 MiB on /opt`,
  'writable-paths': `${LAB}a read-only file system on /opt`,
  firewall: `${LAB}an nftables chain with policy drop; ufw and firewalld: unit test`,
  ports: `${LAB}a program at port 6443`,
  'pending-reboot': `${LAB}/run/reboot-required`,
  'cni-configuration': `${LAB}a file that is read before flannel's`,
  'time-sync': `${LAB}its hosts run no time service`,
  'unique-host': `${LAB}the machine-id of another host`,
  'clock-skew': `${LAB}ten minutes ahead (a \`date\` that lies: the clock itself is the machine's)`,
  'port-matrix': `${LAB}a packet filter that drops TCP from one host and the overlay's UDP from another`,
  downloads: `${LAB}a repository that is not there`,
  selinux: 'unit test: the lab has no SELinux',
  apparmor: 'unit test: the lab has no AppArmor',
  'product-uuid': 'unit test: the lab has no DMI',
  'cgroup-version': 'unit test: the lab has one version',
  'kernel-modules': "unit test: the lab's kernel has them built in",
  vxlan: "unit test: the lab's kernel has it built in",
  cpus: "unit test: the lab's hosts share the machine's",
  memory: "unit test: the lab's hosts share the machine's",
};
