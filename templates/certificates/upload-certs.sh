# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Uploads the control plane's certificates, encrypted with the key in config.yaml beside the script; kubeadm prints that
# key. Parameters: KUBECTL (words), ADMIN_CONF, DESCRIPTION. The token that times the upload is recognized by its
# description: a run that is killed leaves both, the next one deletes the token, and the upload with it.
kubeadm init phase upload-certs --upload-certs --config config.yaml --kubeconfig "$ADMIN_CONF" >/dev/null
owners=$($KUBECTL -n kube-system get secret kubeadm-certs -o 'jsonpath={.metadata.ownerReferences[*].name}')
for owner in $owners; do
  $KUBECTL -n kube-system patch secret "$owner" --type merge -p "{\"stringData\":{\"description\":\"$DESCRIPTION\"}}" >/dev/null
done
