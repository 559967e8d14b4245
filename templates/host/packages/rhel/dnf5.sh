# shellcheck shell=sh disable=SC2034,SC2154  # the scripts that follow use these, and set their parameters
# What dnf5 does in its own way, for the scripts that call it. SOURCES: files of yum.repos.d whose packages are
# installed. PROXY: URL of the proxy for repositories that name none; may be empty. The functions of
# host/packages/rpm/functions.sh stand before this script.
export LC_ALL=C
CACHE=/var/cache/libdnf5

# The locks of dnf5, all of fcntl: that of its list of the system's packages, in its folder since 5.4, and that of a
# transaction.
LOCKS='/var/lib/dnf/system-repo.lock /usr/lib/sysimage/libdnf5/system-repo.lock /run/dnf/rpmtransaction.lock'

# Prints the holders of dnf's locks, found by the inodes of the files. Others may read beside one that reads.
holders() {
  for lock in $LOCKS; do
    inode=$(stat -c %i "$lock" 2>/dev/null) || continue
    pid=$(awk -v suffix=":$inode" '$4 == "WRITE" && substr($6, length($6) - length(suffix) + 1) == suffix { print $5; exit }' /proc/locks)
    [ -z "$pid" ] || echo "$lock is held by process $pid ($(cat "/proc/$pid/comm" 2>/dev/null || echo gone))"
  done
}

# dnf5 waits for the first of its locks without a limit and ends at once for the other: kbuild waits itself, and names
# the holder. 200 is the status of dnf 4 for it. kbuild's repositories exclude their packages from every other
# transaction of the host.
run_dnf() {
  if [ -n "$(holders)" ]; then return 200; fi
  excluding=$(for source in $SOURCES; do id_of "$source"; done | paste -s -d , -)
  dnf5 -y ${excluding:+--setopt=disable_excludes="$excluding"} --setopt=install_weak_deps=False --setopt=retries=3 ${PROXY:+--setopt=proxy="$PROXY"} "$@"
}
is_locked() { [ "$1" -eq 200 ] || grep -q 'Failed to obtain rpm transaction lock' "$2"; }

# Packages by name that repositories have, one a line: repoquery heeds no version locks. query_excluded also finds what
# the host excludes.
query() { run_dnf -q repoquery "$@"; }
query_excluded() { run_dnf -q --setopt=disable_excludes='*' repoquery "$@"; }

# Versions of a package that the repositories have, one a line.
known_versions() { query_excluded --qf '%{version}\n' "$1"; }

# This takes the host's own excludes away along with the locks; nothing but a download is run so.
run_without_locks() { run_dnf --setopt=disable_excludes='*' "$@"; }
remove_duplicates() { patiently run_dnf remove --duplicates; }

# dnf5 has version locks built in.
has_locks() { :; }
prepare_locks() { :; }

# dnf5 writes an epoch of 0 or leaves it out, by its version.
is_at_lock() {
  evr=$(rpm -q --qf '%{EPOCHNUM}:%{VERSION}-%{RELEASE}' "$1")
  run_dnf -q versionlock list | awk -v name="$1" -v lock="evr = $evr" -v plain="evr = ${evr#0:}" '
    /^Package name: / { of = $3 }
    of == name && ($0 == lock || $0 == plain) { found = 1 }
    END { exit !found }'
}
