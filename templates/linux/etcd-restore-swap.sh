# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Puts restored data (DATA) in the place of the live data, which is kept in KEPT, and lets etcd start. Parameters also: ASIDE.
if [ -e "$DATA/member" ]; then
  mkdir -p -m 700 "$KEPT"
  if [ -e /var/lib/etcd/member ]; then mv -T /var/lib/etcd/member "$KEPT/member"; fi
  mkdir -p -m 700 /var/lib/etcd
  mv -T "$DATA/member" /var/lib/etcd/member
  rm -rf -- "$DATA"
fi
if [ -e "$ASIDE/etcd.yaml" ]; then mv "$ASIDE/etcd.yaml" /etc/kubernetes/manifests/etcd.yaml; fi
