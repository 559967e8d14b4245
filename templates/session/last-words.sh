# Prints the last words of what kbuild builds on a host: LINES lines of the kubelet's journal, and of each control-plane
# container that has ended, as the kubelet keeps them: a runtime that hangs cannot hide them. Reads only; what is not
# there says nothing. It uses the function of avc-denials.sh.
echo "== kubelet"
timeout 10 journalctl -u kubelet -n "$LINES" --no-pager -o cat 2>/dev/null || :
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  # shellcheck disable=SC2012 # the kubelet names these files
  file=$(ls -t /var/log/pods/kube-system_"$name"-*/"$name"/*.log 2>/dev/null | head -n 1) || file=
  if [ -z "$file" ]; then continue; fi
  count=$(basename "$file" .log)
  # The first one, and it runs: it has nothing to say yet.
  if [ "$count" = 0 ] && grep -qs "^$name" /proc/[0-9]*/cmdline; then continue; fi
  echo "== $name (container $count)"
  # Each line begins with its time, its stream and whether it is whole.
  tail -n "$LINES" -- "$file" | sed 's/^[^ ]* [^ ]* [^ ]* //' || :
done
denials=$(avc_denials "$LINES")
if [ -n "$denials" ]; then printf '== SELinux\n%s\n' "$denials"; fi
