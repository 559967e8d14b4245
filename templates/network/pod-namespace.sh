# shellcheck shell=sh disable=SC2154,SC2086  # parameters come from outside; KUBECTL is several words
# Creates the namespace NAMESPACE (OBJECT: the whole object, JSON), prints `made`, and keeps the namespace while it
# reads at least one byte from stdin every 45 s. Deletes it when the channel ends, for any reason, and after LIFE
# seconds at the latest. KUBECTL: the words of the command.
end() { $KUBECTL delete namespace "$NAMESPACE" --ignore-not-found --wait=false >/dev/null 2>&1 || :; }
trap end EXIT
# `exit` runs the EXIT trap, also if the channel is gone: a shell that a signal ends runs no EXIT trap.
trap 'exit 1' HUP INT TERM PIPE
printf '%s' "$OBJECT" | $KUBECTL create --validate=ignore -f - >&2
echo made
last=$(($(date +%s) + LIFE))
while [ "$(date +%s)" -lt "$last" ] && beat=$(exec timeout 45 head -c 1) && [ -n "$beat" ]; do :; done
