# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Drains a node and notes that it was. Parameters: KUBECTL (words), NODE, SECONDS_TO_DRAIN, ANNOTATION (name=value).
$KUBECTL drain "$NODE" --ignore-daemonsets --delete-emptydir-data --force --timeout "${SECONDS_TO_DRAIN}s"
$KUBECTL annotate --overwrite node "$NODE" "$ANNOTATION"
