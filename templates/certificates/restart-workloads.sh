# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Restarts workloads one after another, each as its own strategy says, and waits for each; a job. Parameters: KUBECTL
# (words), WORKLOADS (lines: NAMESPACE KIND/NAME), AFTER (seconds since the epoch: none of their pods may start before).
while [ "$(date +%s)" -le "$AFTER" ]; do
  echo "waiting: the clocks of all hosts are past the moment since which tokens are signed with the other key" \
    "($((AFTER - $(date +%s))) s)"
  sleep 5
done
echo "$WORKLOADS" | while read -r namespace workload; do
  echo "waiting: $namespace/$workload restarts"
  $KUBECTL -n "$namespace" rollout restart "$workload" || exit
  if ! $KUBECTL -n "$namespace" rollout status "$workload" --timeout 300s; then
    echo "$namespace/$workload has not restarted after 300 s: \`kubectl -n $namespace describe $workload\` says" \
      "why. Nothing is lost: its old pods still run, and both authorities (or keys) are trusted" >&2
    exit 1
  fi
done
