# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Applies objects to the cluster. Parameters: KUBECTL (words), MANAGER, RECORD (the ConfigMap that lists what kbuild owns),
# FIRST (Namespaces and CRDs, or empty), CRDS (their names, one a line), OBJECTS (or empty); all JSON.
apply() { printf '%s' "$1" | $KUBECTL apply --server-side --force-conflicts --field-manager "$MANAGER" -f -; }

# The record first: what is applied and not recorded could never be taken back.
apply "$RECORD"
if [ -n "$FIRST" ]; then apply "$FIRST"; fi
for crd in $CRDS; do $KUBECTL wait --for condition=established --timeout 60s "customresourcedefinition/$crd"; done
if [ -n "$OBJECTS" ]; then apply "$OBJECTS"; fi
