# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the kernel settings that tuned writes last, one a line: FILE NAME VALUE. By default tuned writes the files of
# /etc/sysctl.d again after its profile, and after them /etc/sysctl.conf. With reapply_sysctl = 0 its active profile
# wins over all of them. A profile comes after those that it includes. ROOT: the folder that stands for /.
settings() { awk -v from="${1#"$ROOT"}" -v profile="$2" '
  function told(i) { if (!profile || section == "sysctl" || type == "sysctl") for (i = 0; i < n; i++) print from, lines[i]; n = 0; type = "" }
  { sub(/[ \t\r]+$/, ""); sub(/^[ \t]+/, "") }
  /^[#;]/ || /^$/ { next }
  profile && /^\[/ { told(); section = substr($0, 2, index($0, "]") - 2); next }
  index($0, "=") {
    name = substr($0, 1, index($0, "=") - 1); value = substr($0, index($0, "=") + 1)
    if (profile) sub(/[ \t]#.*/, "", value)
    gsub(/^[ \t]+|[ \t]+$/, "", name); gsub(/^[ \t"]+|[ \t"]+$/, "", value)
    if (name == "type") type = value; else if (name !~ /[ \t]/) lines[n++] = name " " value
  }
  END { told() }' "$1"; }

# Each call is a shell of its own, with its own variables.
profile() (
  if [ "$2" -gt 9 ]; then return 0; fi
  for folder in etc/tuned/profiles etc/tuned usr/lib/tuned/profiles usr/lib/tuned; do
    file=$ROOT/$folder/$1/tuned.conf
    if ! [ -f "$file" ]; then continue; fi
    for base in $(sed -n 's/^[[:space:]]*include[[:space:]]*=//p' "$file" | tr ',;' '  '); do profile "$base" $(($2 + 1)); done
    settings "$file" 1
    break
  done
)

if [ -e "$ROOT/etc/tuned" ]; then
  reapply=$(sed -n 's/^[[:space:]]*reapply_sysctl[[:space:]]*=[[:space:]]*//p' "$ROOT/etc/tuned/tuned-main.conf" 2>/dev/null | tail -n 1)
  case $reapply in
    '' | 1* | [YyTt]*)
      if [ -f "$ROOT/etc/sysctl.conf" ]; then settings "$ROOT/etc/sysctl.conf" 0; fi
      ;;
    *)
      for name in $(cat "$ROOT/etc/tuned/active_profile" "$ROOT/etc/tuned/post_loaded_profile" 2>/dev/null || :); do profile "$name" 0; done
      ;;
  esac
fi
