# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the members that etcd's database DB names, one JSON object a line; nothing where there is none. The database
# keeps pages of what was removed for a while, so it may name too many.
if [ -e "$DB" ]; then
  { grep -aoE '\{"id":[0-9]+,"peerURLs":\[[^]]*\](,"isLearner":(true|false))?,"name":"[^"]*"' "$DB" || true; } | sed 's/$/}/' | sort -u
fi
