# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Puts restored data (WORK/data) in the place of the live data in FOLDER, which is kept in KEPT, and lets etcd start.
# All of it lies in FOLDER: each rename is one, and the same again goes on where it was cut off. Parameter also: ASIDE.
if [ -e "$WORK/data/member" ]; then
  mkdir -p -m 700 "$KEPT"
  if [ -e "$FOLDER/member" ]; then mv -T "$FOLDER/member" "$KEPT/member"; fi
  mv -T "$WORK/data/member" "$FOLDER/member"
  sync "$FOLDER"
fi
rm -rf -- "$WORK"
if [ ! -e "$FOLDER/member" ]; then
  echo "there is no restored data in $FOLDER" >&2
  exit 1
fi
if [ -e "$ASIDE/etcd.yaml" ]; then mv "$ASIDE/etcd.yaml" /etc/kubernetes/manifests/etcd.yaml; fi
