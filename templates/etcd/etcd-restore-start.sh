# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Lets the control plane start again, whose manifests are in ASIDE; the kubelet reads all manifests anew.
for name in kube-apiserver kube-controller-manager kube-scheduler; do
  if [ -e "$ASIDE/$name.yaml" ]; then mv "$ASIDE/$name.yaml" "/etc/kubernetes/manifests/$name.yaml"; fi
done
if [ -d "$ASIDE" ]; then rmdir "$ASIDE"; fi
systemctl restart kubelet
