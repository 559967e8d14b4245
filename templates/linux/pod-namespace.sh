# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Makes the namespace NAMESPACE (OBJECT: all of it, JSON), says `made`, and keeps it while a byte comes in on stdin at least
# every 45 s: it is deleted when its channel ends, whoever was killed, and after LIFE seconds whatever happens.
# Parameters also: KUBECTL (words).
end() { $KUBECTL delete namespace "$NAMESPACE" --ignore-not-found --wait=false >/dev/null 2>&1 || :; }
trap end EXIT
# Also when nobody hears the answer any more: a shell that dies of a signal runs no EXIT trap.
trap 'exit 1' HUP INT TERM PIPE
printf '%s' "$OBJECT" | $KUBECTL create -f - >&2
echo made
last=$(($(date +%s) + LIFE))
while [ "$(date +%s)" -lt "$last" ] && beat=$(exec timeout 45 head -c 1) && [ -n "$beat" ]; do :; done
