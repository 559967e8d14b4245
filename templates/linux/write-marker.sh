# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Notes on disk how far an action has come: MARKER (a path), CLUSTER, ACTION, STAGE, ABOUT (what it is about).
mark "$ACTION" "$STAGE" "$ABOUT"
