# shellcheck shell=sh
# given: etcd
# Compacts etcd to its current revision, waits until the local member has removed the older revisions, and prints the
# revision. `e` and "$@" (etcdctl and its flags) come from outside.
revision=
# A runtime under load may lose the output of a short process: retry after a success without output.
for try in 1 2 3; do
  revision=$(e "revision$try" "$@" -w json endpoint status | sed -n 's/.*"revision":"\{0,1\}\([0-9]\{1,\}\).*/\1/p' | head -n 1)
  if [ -n "$revision" ]; then break; fi
done
if [ -z "$revision" ]; then
  echo 'etcd did not report its revision' >&2
  exit 1
fi
if ! said=$(e compact "$@" --command-timeout 15m compaction --physical "$revision" 2>&1); then
  case $said in
    # An earlier run has compacted etcd to this revision, and etcd has had no write since then.
    *'has been compacted'*) ;;
    *)
      printf '%s\n' "$said" >&2
      exit 1
      ;;
  esac
fi
echo "$revision"
