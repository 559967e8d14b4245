# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside
# given: kubeadm-job
# kubeadm's init or join, as a job. Parameters: ACTION (init, join), CLUSTER, MARKER (a path), SERVER (the host's own
# API server), HTTP_PROXY_URL, HTTPS_PROXY_URL, NO_PROXY_LIST (empty: none), SETTINGS (a ConfigMap for init), MANAGER,
# PLACE (a script that puts signed certificates in their places; empty: kubeadm signs), DATA (a script that makes etcd's
# data from a backup before init; empty: none), ABOUT (the backup), IGNORED (preflight checks; empty: none). config.yaml
# lies in the working directory, and files pki_NAME for /etc/kubernetes/pki beside it (_ stands for /): the keys and
# certificates that control planes share, or the user's own CA. Files patch_NAME are patches of this job alone: they
# come to JOB_PATCHES (a folder below the working directory) with the host's own of PATCHES (a folder). The marker is on
# disk before kubeadm changes anything. It says `done` as soon as kubeadm has succeeded, before any other command, and
# is removed at the end: a host whose marker says `done` is never undone.
if [ -n "$HTTP_PROXY_URL$HTTPS_PROXY_URL" ]; then
  export HTTP_PROXY="$HTTP_PROXY_URL" HTTPS_PROXY="$HTTPS_PROXY_URL" NO_PROXY="$NO_PROXY_LIST"
fi

mark "$ACTION" begun "$ABOUT"

for file in pki_*; do
  if [ ! -e "$file" ]; then continue; fi
  case $file in *.crt) mode=0644 ;; *) mode=0600 ;; esac
  place=/etc/kubernetes/$(printf %s "$file" | tr _ /)
  # Not `install -D`: that of uutils, in Ubuntu 26.04, replaces a link in the path by a folder (uutils/coreutils#11469).
  (umask 022; mkdir -p -- "${place%/*}")
  install -m "$mode" -o root -g root -- "$file" "$place"
done

for file in patch_*; do
  if [ ! -e "$file" ]; then continue; fi
  if [ ! -d "$JOB_PATCHES" ]; then
    mkdir -- "$JOB_PATCHES"
    if [ -d "$PATCHES" ]; then cp -R -- "$PATCHES/." "$JOB_PATCHES"; fi
  fi
  mv -- "$file" "$JOB_PATCHES/${file#patch_}"
done

if [ -n "$PLACE" ]; then sh -euc "$PLACE"; fi
if [ -n "$DATA" ]; then sh -euc "$DATA"; fi

case $ACTION in
  init)
    run_kubeadm init --config config.yaml --skip-token-print --skip-certificate-key-print ${IGNORED:+--ignore-preflight-errors="$IGNORED"}
    mark "$ACTION" 'done' "$ABOUT"
    admin="kubectl --kubeconfig /etc/kubernetes/admin.conf --server $SERVER"
    # Delete the token that kubeadm creates: every join gets its own. The data of a backup may have tokens of others;
    # there `up` deletes kbuild's, by their description.
    if [ -z "$ABOUT" ]; then $admin -n kube-system delete secrets --field-selector type=bootstrap.kubernetes.io/token; fi
    printf '%s' "$SETTINGS" | $admin apply --server-side --validate=ignore --force-conflicts --field-manager "$MANAGER" -f -
    ;;
  join)
    run_kubeadm join --config config.yaml ${IGNORED:+--ignore-preflight-errors="$IGNORED"}
    mark "$ACTION" 'done'
    ;;
  *)
    echo "no such action: $ACTION" >&2
    exit 64
    ;;
esac
rm -f "$MARKER"
sync "$(dirname "$MARKER")"
