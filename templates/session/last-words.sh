# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the ends of the logs of what kbuild builds on a host, of the last AGE seconds: LINES lines of the kubelet's
# journal, and of each control-plane container that has ended, and the errors of kube-proxy, which goes on after them;
# as the kubelet keeps them in PODS: a runtime that hangs cannot hide them. Each line begins with its time in UTC; a
# message that is repeated is printed once. Reads only; what is not there says nothing. It uses the function of
# avc-denials.sh, which has AGE.

# Reads lines that begin with RFC 3339. Lines of klog and zap have a time of their own, which would hide a repetition.
each_once() {
  awk -v words="$1" '{
    at = ""; text = $0
    if (match(text, /^[0-9]+-[0-9-]+T[0-9:]+[^ ]* /)) { at = substr(text, 12, 8) " "; text = substr(text, RLENGTH + 1) }
    for (n = 0; n < words && at != ""; n++) sub(/^[^ ]* /, "", text)
    if (match(text, /^[IWEF][0-9]+ [0-9:.]+ +[0-9]+ /)) text = substr(text, 1, 1) " " substr(text, RLENGTH + 1)
    key = text; gsub(/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f-]*|"ts":"[^"]*"/, "", key)
    if (!seen[key]++) print at text
  }' | tail -n "$LINES"
}
echo "== kubelet"
# Before the text stands the process.
timeout 10 journalctl -u kubelet --since "@$(($(date +%s) - AGE))" -n 2000 --no-pager --utc --no-hostname \
  -o short-iso 2>/dev/null | each_once 1 || :
for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  # shellcheck disable=SC2012 # the kubelet names these files
  file=$(ls -t "$PODS"/kube-system_"$name"-*/"$name"/*.log 2>/dev/null | head -n 1) || file=
  if [ -z "$file" ]; then continue; fi
  # Written before this run began: another attempt's.
  if [ $(($(date +%s) - $(stat -c %Y -- "$file"))) -gt "$AGE" ]; then continue; fi
  count=$(basename "$file" .log)
  # The first one, and it runs: it has nothing to say yet.
  if [ "$count" = 0 ] && grep -qs "^$name" /proc/[0-9]*/cmdline; then continue; fi
  echo "== $name (container $count)"
  # Behind the time stand the stream and whether the line is whole. The time has the offset of the host's zone.
  tail -n 500 -- "$file" | each_once 2 || :
done
# shellcheck disable=SC2012
file=$(ls -t "$PODS"/kube-system_kube-proxy-*/kube-proxy/*.log 2>/dev/null | head -n 1) || file=
if [ -n "$file" ]; then
  # Its log has the times of the host's zone.
  from=$(date -d "@$(($(date +%s) - AGE))" +%Y-%m-%dT%H:%M:%S)
  errors=$(tail -n 2000 -- "$file" | awk -v from="$from" '$1 >= from && $4 ~ /^[EF][0-9]+$/' | each_once 2) || errors=
  if [ -n "$errors" ]; then printf '== kube-proxy\n%s\n' "$errors"; fi
fi
denials=$(avc_denials "$LINES")
if [ -n "$denials" ]; then printf '== SELinux\n%s\n' "$denials"; fi
