# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Creates a Job that objects after it need, and waits until it has completed. Parameters: KUBECTL (words), MANAGER, JOB
# (JSON), NAMESPACE, NAME, LIMIT (seconds), REPLACED (the Job of that name is deleted first: Kubernetes changes none).
job=job/$NAME
if [ -n "$REPLACED" ]; then $KUBECTL -n "$NAMESPACE" delete "$job" --ignore-not-found --cascade=foreground; fi
printf '%s' "$JOB" | $KUBECTL apply --server-side --validate=ignore --force-conflicts --field-manager "$MANAGER" -f -
end=$(($(date +%s) + LIMIT))
true='{range .status.conditions[?(@.status=="True")]}{.type} {end}'
until [ "$(date +%s)" -ge "$end" ]; do
  # An API server may be away for a moment: no answer says nothing of the Job.
  case " $($KUBECTL -n "$NAMESPACE" get "$job" -o "jsonpath=$true" || true)" in
    *' Complete '*) exit 0 ;;
    *' Failed '*)
      echo "the Job $NAME in $NAMESPACE failed: kubectl -n $NAMESPACE logs $job" >&2
      exit 1
      ;;
  esac
  sleep 1
done
echo "the Job $NAME in $NAMESPACE did not complete within $LIMIT s: kubectl -n $NAMESPACE describe $job" >&2
exit 1
