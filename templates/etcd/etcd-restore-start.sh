# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Starts the control plane again: moves its manifests from ASIDE back, and has the kubelet read all manifests again.
for name in kube-apiserver kube-controller-manager kube-scheduler; do
  if [ -e "$ASIDE/$name.yaml" ]; then mv "$ASIDE/$name.yaml" "/etc/kubernetes/manifests/$name.yaml"; fi
done
if [ -d "$ASIDE" ]; then rmdir "$ASIDE"; fi
systemctl restart kubelet
