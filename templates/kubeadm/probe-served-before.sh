# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints those that are older than the marker MARKER, of etcd's data in `$etcd_folder` (etcd-folder.sh) and the API
# server's manifest, and `finalized` when the kubelet uses the certificate that it renews itself; nothing without a
# marker.
if [ -e "$MARKER" ]; then
  for path in "$etcd_folder/member" /etc/kubernetes/manifests/kube-apiserver.yaml; do
    if [ -e "$path" ] && [ "$path" -ot "$MARKER" ]; then echo "older $path"; fi
  done
  if grep -qs 'client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem' /etc/kubernetes/kubelet.conf; then
    echo finalized
  fi
fi
