# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the members that etcd's database DB names, one JSON object a line; nothing if there is no database. The
# database keeps pages of removed members for a while, so it may name them too.
if [ -e "$DB" ]; then
  { grep -aoE '\{"id":[0-9]+,"peerURLs":\[[^]]*\](,"isLearner":(true|false))?,"name":"[^"]*"' "$DB" || true; } | sed 's/$/}/' | sort -u
fi
