# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Fails if containerd rejects the configuration file CONFIG. Succeeds on a host without containerd.
containerd=/usr/bin/containerd
if ! [ -x $containerd ]; then containerd=$(command -v containerd) || exit 0; fi
$containerd --config "$CONFIG" config dump >/dev/null
