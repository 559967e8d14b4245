# shellcheck shell=sh
# given: etcd
# Prints like etcd-view.sh, without quorum: the members that the local one knows, and the status of those that answer.
# Health is left out, which etcd reports only with quorum. Uses `e` and `"$@"` of etcd-tools.sh.
t=$(mktemp -d -p /run)
trap 'rm -rf "$t"' EXIT
e m "$@" -w json member list --consistency=s >"$t/members"
all=$(grep -o '"clientURLs":[[]"[^"]*' "$t/members" | sed 's/.*"//' | paste -sd, -)
shift 3
e s etcdctl --endpoints "$all" "$@" -w json endpoint status >"$t/status" || true
echo "members $(cat "$t/members")"
echo "status $(cat "$t/status")"
echo 'alarms {}'
