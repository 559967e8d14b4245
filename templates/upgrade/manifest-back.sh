# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Puts manifests back that kubeadm moved away and did not replace, because it was killed in between. NAMES: e.g. etcd
# kube-apiserver, one a line.
for name in $NAMES; do
  to=/etc/kubernetes/manifests/$name.yaml
  if [ -e "$to" ]; then continue; fi
  # shellcheck disable=SC2012 # kubeadm's names hold a time and nothing odd
  from=$(ls -1dt /etc/kubernetes/tmp/kubeadm-backup-manifests*/"$name.yaml" 2>/dev/null | head -n 1)
  if [ -z "$from" ]; then
    echo "$to is missing, and no backup of kubeadm in /etc/kubernetes/tmp has it" >&2
    exit 1
  fi
  # The kubelet ignores names that begin with a dot.
  install -m 0600 "$from" "/etc/kubernetes/manifests/.$name.kbuild"
  sync "/etc/kubernetes/manifests/.$name.kbuild"
  mv "/etc/kubernetes/manifests/.$name.kbuild" "$to"
  sync /etc/kubernetes/manifests
  echo "put back $to from $from"
done
