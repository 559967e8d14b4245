# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Before etcd-restore-prepare.sh on a host without etcd: brings SNAPSHOT (a path) to WORK, and writes there which image
# kubeadm (config.yaml in the working directory) will run. FOLDER: where etcd's data will lie; it must hold none.
if [ -e "$FOLDER/member" ]; then
  echo "$FOLDER/member is there already: this host has data of an etcd" >&2
  exit 1
fi
rm -rf -- "$WORK"
mkdir -p -m 700 "$FOLDER" "$WORK"
mv -- "$SNAPSHOT" "$WORK/snapshot.db"
kubeadm config images list --config config.yaml 2>/dev/null | sed -n 's,^.*/etcd:.*$,image: &,p' | head -n 1 >"$WORK/etcd.yaml"
if [ ! -s "$WORK/etcd.yaml" ]; then
  echo 'kubeadm names no image of etcd' >&2
  exit 1
fi
