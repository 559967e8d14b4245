# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Runs in a pod of the test image, which has a shell and agnhost, not much more. Connects to TARGETS (host:port, one a
# line), eight at once, and prints `TARGET open`, or `TARGET` and the output of agnhost.
one() {
  if said=$(/agnhost connect --timeout=3s "$1" 2>&1); then said=open; fi
  printf '%s %s\n' "$1" "${said%%
*}"
}
count=0
for target in $TARGETS; do
  one "$target" &
  count=$((count + 1))
  if [ $((count % 8)) -eq 0 ]; then wait; fi
done
wait
