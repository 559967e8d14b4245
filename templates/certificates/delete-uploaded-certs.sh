# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Deletes the control plane's certificates that kubeadm uploaded, and the token that only times them. Parameter: KUBECTL
# (words).
owners=$($KUBECTL -n kube-system get secret kubeadm-certs --ignore-not-found -o 'jsonpath={.metadata.ownerReferences[*].name}')
for owner in $owners; do
  case $owner in bootstrap-token-*) $KUBECTL -n kube-system delete secret --ignore-not-found "$owner" ;; esac
done
$KUBECTL -n kube-system delete secret --ignore-not-found kubeadm-certs
