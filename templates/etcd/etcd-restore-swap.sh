# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Replaces the live data in FOLDER with the restored data (WORK/data), keeps the live data in KEPT, and lets etcd start.
# All these folders are inside FOLDER, so each move is one rename, and a second run continues an interrupted one.
# Parameter also: ASIDE.
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
