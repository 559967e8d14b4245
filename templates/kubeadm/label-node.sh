# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Sets and takes back labels and taints of a node, and notes which are kbuild's. Parameters: KUBECTL (words), NODE,
# LABELS and TAINTS (one a line, `name-` takes back), ANNOTATION (name=value). The note first: a label that is set and
# not noted could never be taken back.
$KUBECTL annotate --overwrite node "$NODE" "$ANNOTATION" >/dev/null
IFS='
'
set -f
labels=$LABELS
taints=$TAINTS
set -- $labels
IFS=' '
if [ $# -gt 0 ]; then $KUBECTL label --overwrite node "$NODE" "$@" >/dev/null; fi
IFS='
'
set -- $taints
IFS=' '
if [ $# -gt 0 ]; then $KUBECTL taint --overwrite node "$NODE" "$@" >/dev/null; fi
