# The 25 checks that every contestant makes, as one script: what a plan needs to know of a host.
cat /etc/os-release
cat /proc/meminfo
cat /proc/cpuinfo | head -30
df -P / /var
df -Pi /var
cat /proc/modules || :
sysctl -n net.ipv4.ip_forward
cat /proc/swaps
uname -r
hostname
date +%s.%N
cat /proc/sys/kernel/random/boot_id
cat /etc/machine-id
stat -fc %T /sys/fs/cgroup
command -v kubeadm || echo none
command -v kubelet || echo none
command -v containerd || echo none
test -e /etc/kubernetes/admin.conf && echo yes || echo no
test -e /etc/kubernetes/kubelet.conf && echo yes || echo no
ls /etc/kubernetes/manifests 2>/dev/null || :
ls /var/lib/etcd 2>/dev/null || :
cat /proc/net/tcp | wc -l
cat /etc/hosts
cat /etc/resolv.conf
dpkg-query -W -f '${Status} ${Version}\n' openssh-server || :
