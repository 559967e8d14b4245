# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Applies objects to the cluster. Parameters: KUBECTL (words), MANAGER, FIRST (a list: the ConfigMap that records what
# kbuild owns, Namespaces, CRDs), CRDS (names of the CRDs, one a line), OBJECTS (a list, or empty); all JSON. The record
# leads its list: what is applied and not recorded could never be taken back.
# `--validate=ignore`, here and in every script: the API server itself refuses a field that no schema has in what is
# applied server-side. Without it kubectl first downloads the API's schema to learn whether the server can do so, and
# fails where a busy API server does not send it in time.
# A webhook of objects that were applied just now may not answer yet, though its pod is ready: it gets a minute.
apply() {
  end=$(($(date +%s) + 60))
  until said=$(printf '%s' "$1" | $KUBECTL apply --server-side --validate=ignore --force-conflicts --field-manager "$MANAGER" -f - 2>&1); do
    case $said in *'failed calling webhook'*) [ "$(date +%s)" -ge "$end" ] || { sleep 2 && continue; } ;; esac
    printf '%s\n' "$said" >&2
    return 1
  done
  printf '%s\n' "$said"
}

apply "$FIRST"
for crd in $CRDS; do $KUBECTL wait --for condition=established --timeout 60s "customresourcedefinition/$crd"; done
if [ -n "$OBJECTS" ]; then apply "$OBJECTS"; fi
