# Prints what support wants to know of a host, in sections that begin with "== ". Reads only; the caller takes secrets
# out. It uses the functions of templates/runtime/ and of avc-denials.sh. NAMESPACES: those of network plugins, one a
# line.
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
# shellcheck disable=SC2086 # several words
section packages dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Version}\n' kubeadm kubelet kubectl kubernetes-cni $runtime_packages cri-tools
section dpkg-audit dpkg --audit
section kbuild-files find /run/kbuild /var/lib/kbuild -ls
section kubernetes-files find /etc/kubernetes -maxdepth 3 -ls
section kubelet-status systemctl status kubelet --no-pager -n 0
section kubelet-journal journalctl -u kubelet -n 400 --no-pager
# shellcheck disable=SC2086 # several words
for unit in "$runtime_unit" $runtime_more_units; do
  section "$unit-status" systemctl status "$unit" --no-pager -n 0
  section "$unit-journal" journalctl -u "$unit" -n 200 --no-pager
done
echo '== selinux-denials'
avc_denials 200
section kernel-messages journalctl -k -n 100 --no-pager
if command -v crictl >/dev/null; then
  section containers crictl -t 30s -r "$runtime_endpoint" ps -a
fi
# Only what Kubernetes, its networks and kbuild run: what other pods print may be secret. NAMESPACE_POD_UID/CONTAINER/,
# as the kubelet keeps them: neither crictl nor a runtime that answers is needed. The youngest 24.
set -- /var/log/pods/kbuild-check-*_*/*/*.log
for namespace in kube-system kube-public kube-node-lease $NAMESPACES; do set -- "$@" /var/log/pods/"$namespace"_*/*/*.log; done
# shellcheck disable=SC2012 # the kubelet names these files
ls -t -- "$@" 2>/dev/null | head -n 24 | while read -r file; do
  section "log ${file#/var/log/pods/}" tail -n 60 -- "$file"
done
if [ -e /etc/kubernetes/admin.conf ] && command -v kubectl >/dev/null; then
  set -- kubectl --kubeconfig /etc/kubernetes/admin.conf
  section readyz "$@" get --raw '/readyz?verbose' --request-timeout=5s
  # An API that does not answer would be waited for three times.
  if "$@" get --raw /livez --request-timeout=3s >/dev/null 2>&1; then
    for kind in nodes pods; do section "$kind" "$@" get "$kind" -A -o wide --request-timeout=10s; done
    # Nodes have their events in default.
    for namespace in default kube-system $NAMESPACES; do
      section "events $namespace" "$@" get events -n "$namespace" -o wide --request-timeout=10s
    done
  fi
fi
