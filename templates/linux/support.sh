# Prints what support wants to know of a host, in sections that begin with "== ". Reads only; the caller takes secrets out.
section() {
  echo "== $1"
  shift
  timeout 20 "$@" 2>&1 || :
}
section system uname -a
section os cat /etc/os-release
section uptime uptime
section memory free -m
section disks df -h
section inodes df -i
section mounts cat /proc/mounts
section addresses ip -br addr
section routes ip route
section listening ss -ltnp
section dns cat /etc/resolv.conf
section clock timedatectl show
section failed-units systemctl --failed --no-pager --plain
section packages dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' kubeadm kubelet kubectl kubernetes-cni containerd containerd.io cri-tools
section dpkg-audit dpkg --audit
section kbuild-files find /run/kbuild /var/lib/kbuild -ls
section kubernetes-files find /etc/kubernetes -maxdepth 3 -ls
section kubelet-status systemctl status kubelet --no-pager -n 0
section kubelet-journal journalctl -u kubelet -n 400 --no-pager
section containerd-status systemctl status containerd --no-pager -n 0
section containerd-journal journalctl -u containerd -n 200 --no-pager
section kernel-messages journalctl -k -n 100 --no-pager
if command -v crictl >/dev/null; then
  section containers crictl --runtime-endpoint unix:///run/containerd/containerd.sock ps -a
  for id in $(timeout 20 crictl --runtime-endpoint unix:///run/containerd/containerd.sock ps -a -q --state Exited 2>/dev/null | head -n 12); do
    section "container $(printf %.12s "$id")" crictl --runtime-endpoint unix:///run/containerd/containerd.sock logs --tail 60 "$id"
  done
fi
if [ -e /etc/kubernetes/admin.conf ] && command -v kubectl >/dev/null; then
  for kind in nodes pods events; do
    section "$kind" kubectl --kubeconfig /etc/kubernetes/admin.conf get "$kind" -A -o wide --request-timeout=10s
  done
fi
