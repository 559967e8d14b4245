# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints the releases to which the repositories of the system are held, one a line: RELEASE, and the file or the command
# by which. The subscription manager of RHEL keeps what the host's account says in a cache. ROOT: the folder that stands
# for /.
for file in /etc/dnf/vars/releasever /etc/yum/vars/releasever; do
  if [ -f "$ROOT$file" ]; then
    release=$(head -n 1 "$ROOT$file" | tr -d '[:space:]')
    if [ -n "$release" ]; then echo "$release $file"; fi
  fi
done
cache=$ROOT/var/lib/rhsm/cache/releasever.json
if [ -f "$cache" ]; then
  release=$(sed -n 's/.*"releaseVer"[[:space:]]*:[[:space:]]*"\([^"[:space:]]*\)".*/\1/p' "$cache" | head -n 1)
  if [ -n "$release" ]; then echo "$release subscription-manager release --set"; fi
fi
