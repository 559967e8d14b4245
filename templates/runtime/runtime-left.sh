# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Fails while the kubelet uses the CRI socket SOCKET. It uses runtime_serving of serving-runtime.sh.
if [ "$runtime_serving" = "$SOCKET" ]; then
  echo "the kubelet still uses $SOCKET" >&2
  exit 1
fi
