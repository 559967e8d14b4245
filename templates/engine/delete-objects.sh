# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Deletes objects that the inventory no longer names, and takes them off the record. Parameters: KUBECTL (words),
# MANAGER, RECORD (a ConfigMap), OBJECTS (identities, or empty); all JSON. An object whose kind is gone is gone too.
if [ -n "$OBJECTS" ]; then
  said=$(printf '%s' "$OBJECTS" | $KUBECTL delete --ignore-not-found --wait=false -f - 2>&1) || {
    if printf '%s\n' "$said" | grep '^error\|^Error' | grep -vq 'no matches for kind'; then
      printf '%s\n' "$said" >&2
      exit 1
    fi
  }
fi
printf '%s' "$RECORD" | $KUBECTL apply --server-side --validate=ignore --force-conflicts --field-manager "$MANAGER" -f -
