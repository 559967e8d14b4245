# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Writes another Corefile into the ConfigMap kube-system/coredns, after a pod of CoreDNS has become ready with it.
# Parameters: KUBECTL (words), MANAGER, TRIAL (name of the pod), POD (JSON; empty: there is nothing to try), PATCH (a
# JSON patch).
system="$KUBECTL --request-timeout 10s -n kube-system"
patch=$(mktemp)
forget() { $KUBECTL -n kube-system delete pod "$TRIAL" --ignore-not-found --timeout 60s >&2; }
trap 'rm -f "$patch"; if [ -n "$POD" ]; then forget || true; fi' EXIT
trap 'exit 1' HUP INT TERM

if [ -n "$POD" ]; then
  # One that was cut off may be left.
  forget
  printf '%s' "$POD" | $system create --validate=ignore -f - >&2
  from=$(date +%s)
  while pod=$($system get pod "$TRIAL" -o 'jsonpath={.status.phase} {.status.containerStatuses[0].ready}') || true; [ "$pod" != 'Running true' ]; do
    waited=$(($(date +%s) - from))
    if [ "${pod%% *}" = Failed ] || [ "${pod%% *}" = Succeeded ] || [ $waited -gt 120 ]; then
      why=$($system logs "$TRIAL" --tail 1 2>/dev/null | tail -c 600) || true
      if [ -z "$why" ]; then why=$($system get pod "$TRIAL" -o 'jsonpath={.status.conditions[*].message} {.status.containerStatuses[*].state.waiting.message}') || true; fi
      echo "a pod of CoreDNS is not ready with dns.blocks after $waited s: ${why:-no reason is known}. The" \
        "Corefile of the cluster is as it was. Correct dns.blocks and run the same command again" >&2
      exit 1
    fi
    sleep 1
  done
fi
printf '%s' "$PATCH" >"$patch"
$KUBECTL -n kube-system patch configmap coredns --type json --field-manager "$MANAGER" --patch-file "$patch"
