# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Moves etcd's certificates and keys from STAGING (a folder laid out as /etc/kubernetes/pki) to their places. SIGN:
# kubeadm's phases, one a line, that first create them there with the host's own authority; config.yaml is then in the
# working directory. If a run was interrupted between a key and its certificate, STAGING still exists, and the next run
# signs again.
umask 077
pki=/etc/kubernetes/pki
if [ -n "$SIGN" ]; then
  rm -rf -- "$STAGING"
  mkdir -p -- "$STAGING/etcd"
  cp -p -- "$pki/etcd/ca.crt" "$pki/etcd/ca.key" "$STAGING/etcd/"
  for phase in $SIGN; do kubeadm init phase certs "$phase" --config config.yaml; done
  rm -f -- "$STAGING/etcd/ca.crt" "$STAGING/etcd/ca.key"
fi
mkdir -p -- "$pki/etcd"
find "$STAGING" -type f | while read -r file; do
  sync -- "$file"
  mv -f -- "$file" "$pki/${file#"$STAGING/"}"
done
sync -- "$pki" "$pki/etcd"
rm -rf -- "$STAGING"
