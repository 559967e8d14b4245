# shellcheck shell=sh disable=SC2154  # parameters and functions come from outside
# uses: engine/workloads.sh engine/cordon.sh
# Cordons a node, so that nothing that leaves another one moves there. Parameters: those of cordon.sh.
cordon
