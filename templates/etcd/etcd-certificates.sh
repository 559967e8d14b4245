# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Puts etcd's certificates and keys from STAGING (a folder laid out as /etc/kubernetes/pki) to their places. SIGN:
# kubeadm's phases, one a line, that make them there first with the host's own authority; config.yaml then lies beside
# the script. Keys and certificates that were cut off between each other are known by STAGING, and made again.
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
