# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Signs a client certificate for the kubelet of this control plane with the key of the cluster's CA, and leaves it where
# place-certificates.sh looks for it. config.yaml lies in the working directory. Parameters: NODE, WORK (a folder on
# tmpfs).
umask 077
key=/etc/kubernetes/pki/ca.key
if [ ! -s $key ]; then
  echo "$key is not on this host, so kubeadm cannot sign with it: bring it back from a backup or from another" \
    "control plane" >&2
  exit 1
fi
rm -rf -- "$WORK"
mkdir -p -- "$WORK"
kubeadm kubeconfig user --org system:nodes --client-name "system:node:$NODE" --config config.yaml >"$WORK/kubelet.conf"
kubectl config view --raw --kubeconfig "$WORK/kubelet.conf" -o 'jsonpath={.users[0].user.client-certificate-data}' | base64 -d >signed_kubelet.conf
cp /etc/kubernetes/pki/ca.crt authority.crt
