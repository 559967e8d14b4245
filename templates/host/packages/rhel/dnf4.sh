# shellcheck shell=sh disable=SC2034,SC2154  # the scripts that follow use these, and set their parameters
# What dnf 4 does in its own way, for the scripts that call it. SOURCES: files of yum.repos.d whose packages are
# installed. PROXY: URL of the proxy for repositories that name none; may be empty. The functions of
# host/packages/rpm/functions.sh stand before this script.
export LC_ALL=C
CACHE=/var/cache/dnf

# dnf waits for a lock without a limit, unless exit_on_lock is set; then it exits with 200. kbuild's repositories
# exclude their packages from every other transaction of the host.
# shellcheck disable=SC2046 # names of repositories have no blanks
run_dnf() {
  dnf -y $(for source in $SOURCES; do echo "--disableexcludes=$(id_of "$source")"; done) --setopt=exit_on_lock=True --setopt=install_weak_deps=False --setopt=retries=3 ${PROXY:+--setopt=proxy="$PROXY"} "$@"
}
is_locked() { [ "$1" -eq 200 ]; }

# Prints the holders of dnf's locks. Each file has the process ID of its holder; a dead process holds nothing.
holders() {
  for lock in /var/cache/dnf/download_lock.pid /var/cache/dnf/metadata_lock.pid /var/lib/dnf/rpmdb_lock.pid; do
    pid=$(cat "$lock" 2>/dev/null) || continue
    [ ! -e "/proc/$pid/comm" ] || echo "$lock is held by process $pid ($(cat "/proc/$pid/comm"))"
  done
}

# Packages by name that repositories have, one a line, whatever is locked. query_excluded also finds what the host
# excludes.
query() { run_dnf -q --disableplugin=versionlock repoquery "$@"; }
query_excluded() { query --disableexcludes=all "$@"; }

# Versions of a package that the repositories have, one a line.
known_versions() { query_excluded --qf '%{version}' "$1"; }

run_without_locks() { run_dnf --disableplugin=versionlock "$@"; }
remove_duplicates() { patiently run_dnf remove --duplicates; }

# The plugin versionlock may be missing; then nothing is locked.
has_locks() { [ -e /etc/dnf/plugins/versionlock.list ]; }
prepare_locks() { has_locks || patiently run_dnf install python3-dnf-plugin-versionlock; }
is_at_lock() {
  grep -qxF -e "$(rpm -q --qf '%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.*' "$1")" /etc/dnf/plugins/versionlock.list
}
