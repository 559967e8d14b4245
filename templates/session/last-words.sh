# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the last words of what kbuild builds on a host, of the last AGE seconds: LINES lines of the kubelet's journal,
# and of each control-plane container that has ended, as the kubelet keeps them: a runtime that hangs cannot hide them.
# A message that is repeated is printed once. Reads only; what is not there says nothing. It uses the function of
# avc-denials.sh, which has AGE.
each_once() {
  awk '{ text = $0; sub(/^[IWEF][0-9]+ [0-9:.]+ +[0-9]+ /, "", text); gsub(/[0-9a-f-]{32,}/, "", text) } !seen[text]++' |
    tail -n "$LINES"
}
echo "== kubelet"
timeout 10 journalctl -u kubelet --since "@$(($(date +%s) - AGE))" -n 2000 --no-pager -o cat 2>/dev/null | each_once || :
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  # shellcheck disable=SC2012 # the kubelet names these files
  file=$(ls -t /var/log/pods/kube-system_"$name"-*/"$name"/*.log 2>/dev/null | head -n 1) || file=
  if [ -z "$file" ]; then continue; fi
  # Written before this run began: another attempt's.
  if [ $(($(date +%s) - $(stat -c %Y -- "$file"))) -gt "$AGE" ]; then continue; fi
  count=$(basename "$file" .log)
  # The first one, and it runs: it has nothing to say yet.
  if [ "$count" = 0 ] && grep -qs "^$name" /proc/[0-9]*/cmdline; then continue; fi
  echo "== $name (container $count)"
  # Each line begins with its time, its stream and whether it is whole.
  tail -n 500 -- "$file" | sed 's/^[^ ]* [^ ]* [^ ]* //' | each_once || :
done
denials=$(avc_denials "$LINES")
if [ -n "$denials" ]; then printf '== SELinux\n%s\n' "$denials"; fi
