# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Makes the namespace NAMESPACE (OBJECT: all of it, JSON), says `made`, and keeps it while a byte comes in on stdin at
# least every 45 s: it is deleted when its channel ends, for any reason, and after LIFE seconds at the latest.
# Parameters also: KUBECTL (words).
end() { $KUBECTL delete namespace "$NAMESPACE" --ignore-not-found --wait=false >/dev/null 2>&1 || :; }
trap end EXIT
# Also if the channel is gone: a shell that a signal ends runs no EXIT trap.
trap 'exit 1' HUP INT TERM PIPE
printf '%s' "$OBJECT" | $KUBECTL create -f - >&2
echo made
last=$(($(date +%s) + LIFE))
while [ "$(date +%s)" -lt "$last" ] && beat=$(exec timeout 45 head -c 1) && [ -n "$beat" ]; do :; done
