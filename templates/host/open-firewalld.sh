# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Writes kbuild's two policies of firewalld: for packets to the host, and for packets through it. INPUT,
# FORWARD: rich rules, one a line; none: no policy.
policy() {
  name=$1 egress=$2 rules=$3
  firewall-cmd -q --permanent --delete-policy="$name" 2>/dev/null || :
  if [ -z "$rules" ]; then return 0; fi
  firewall-cmd -q --permanent --new-policy="$name"
  firewall-cmd -q --permanent --policy="$name" --add-ingress-zone=ANY
  firewall-cmd -q --permanent --policy="$name" --add-egress-zone="$egress"
  # One call for all of them: each takes half a second.
  set --
  while read -r rule; do set -- "$@" "--add-rich-rule=$rule"; done <<END
$rules
END
  firewall-cmd -q --permanent --policy="$name" "$@"
}
policy kbuild HOST "$INPUT"
policy kbuild-pods ANY "$FORWARD"
firewall-cmd -q --reload
