# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints live objects. KUBECTL: the command with its options, one word a line. OBJECTS: what the objects are, one JSON
# object a line. OUTPUT: options of `get`, one word a line. An object whose kind the API does not know (its CRD is not
# there yet) is absent, not unknown.
set +e -f
errors=$(mktemp -p /run)
printf %s "$OBJECTS" | $KUBECTL get -f - --ignore-not-found $OUTPUT 2>"$errors"
status=$?
grep -v -e 'no matches for kind' -e 'ensure CRDs are installed first' "$errors" >&2 && exit "$status"
rm -f "$errors"
exit 0
