# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Makes a client certificate of etcd for an API server, prints its key and then the certificate, and deletes both.
# Parameters: WORK (a folder on tmpfs for this script alone), CONFIG (kubeadm's documents; their certificatesDir is
# WORK).
umask 077
rm -rf -- "$WORK"
mkdir -p -- "$WORK/etcd"
trap 'rm -rf -- "$WORK"' EXIT
trap 'exit 1' HUP INT TERM
cp -p -- /etc/kubernetes/pki/etcd/ca.crt /etc/kubernetes/pki/etcd/ca.key "$WORK/etcd/"
printf '%s' "$CONFIG" >"$WORK/config.yaml"
kubeadm init phase certs apiserver-etcd-client --config "$WORK/config.yaml" >&2
cat -- "$WORK/apiserver-etcd-client.key" "$WORK/apiserver-etcd-client.crt"
