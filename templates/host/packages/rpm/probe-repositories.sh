# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the names of the enabled repositories that FILES (patterns) describe, besides kbuild's, one a line. A
# repository is enabled unless its description says otherwise.
# shellcheck disable=SC2086 # patterns
for file in $FILES; do
  if ! [ -e "$file" ]; then continue; fi
  awk '
    function told() { if (name != "" && on && name !~ /^kbuild-/) print name }
    /^\[/ { told(); name = substr($0, 2, index($0, "]") - 2); on = 1 }
    /^enabled[ \t]*=/ { on = tolower($0) ~ /=[ \t]*(1|yes|true|on)[ \t]*$/ }
    END { told() }' "$file"
done
