# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the files that a run of kubeadm leaves, as far as they exist. ETCD_DATA: where kubeadm keeps etcd's data,
# beside `$etcd_folder` (etcd-folder.sh). KUBE_VIP: a manifest that is there before kubeadm runs.
other=$ETCD_DATA/member
if [ "$other" = "$etcd_folder/member" ]; then other=; fi
set -- /etc/kubernetes/kubelet.conf /etc/kubernetes/bootstrap-kubelet.conf /etc/kubernetes/admin.conf /etc/kubernetes/super-admin.conf \
  /etc/kubernetes/manifests/*.yaml /etc/kubernetes/pki/ca.crt /etc/kubernetes/pki/ca.key "$etcd_folder/member" "$other" \
  /var/lib/kubelet/config.yaml /var/lib/kubelet/pki/kubelet-client-current.pem
for path in "$@"; do
  if [ -e "$path" ] && [ "$path" != "$KUBE_VIP" ]; then echo "$path"; fi
done
