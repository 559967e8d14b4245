# One dnf transaction: finishes an interrupted one, installs, holds. Waits for other package tools and never kills them.
# PACKAGES: lines "name version" (version "any": the newest). OPTIONAL: names, installed along when a repository has them.
# HOLD: names held afterwards. SOURCES: files of yum.repos.d that have the packages; their metadata is fetched first.
# UNPACK: must be empty.
# PROXY: URL of the proxy for all repositories that name none; may be empty.
# The functions of linux/package-transaction.sh stand before this script.
export LC_ALL=C
printf '%s\n' /var/cache/dnf >downloads || :

# dnf waits for a lock without a limit, unless exit_on_lock is set; then it exits with 200.
run_dnf() {
  dnf -y --setopt=exit_on_lock=True --setopt=install_weak_deps=False --setopt=retries=3 ${PROXY:+--setopt=proxy="$PROXY"} "$@"
}
is_locked() { [ "$1" -eq 200 ]; }

# Prints the holders of dnf's locks. Each file has the process ID of its holder; a dead process holds nothing.
holders() {
  for lock in /var/cache/dnf/download_lock.pid /var/cache/dnf/metadata_lock.pid /var/lib/dnf/rpmdb_lock.pid; do
    pid=$(cat "$lock" 2>/dev/null) || continue
    [ ! -e "/proc/$pid/comm" ] || echo "$lock is held by process $pid ($(cat "/proc/$pid/comm"))"
  done
}

# rpm checks signatures with the keys in its own database. An import replaces an older copy of the same key.
import_keys() {
  for source in $SOURCES; do
    sed -n 's|^gpgkey=file://||p' "$source" | while read -r key; do rpm --import "$key"; done
  done
}

update_needed() {
  for source in $SOURCES; do
    name=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$source")
    doing "dnf makecache --repo $name"
    patiently run_dnf --refresh --repo "$name" makecache || return 1
  done
}

# Makes $work/wanted, the arguments for dnf install: dnf finds `name-version` in whatever release.
select_versions() {
  : >"$work/wanted"
  while read -r name version; do
    case $version in
      '') ;;
      any) echo "$name" >>"$work/wanted" ;;
      *) echo "$name-$version" >>"$work/wanted" ;;
    esac
  done <<END
$PACKAGES
END
  for name in $OPTIONAL; do
    if [ -n "$(dnf -q ${PROXY:+--setopt=proxy="$PROXY"} repoquery "$name")" ]; then echo "$name" >>"$work/wanted"; fi
  done
}

# A version lock hides all other versions of a package from dnf, so it ends before the transaction.
unlock() {
  [ -e /etc/dnf/plugins/versionlock.list ] || return 0
  for name in $HOLD; do patiently run_dnf versionlock delete "$name" >/dev/null; done
}

install() {
  doing "dnf install $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  run_dnf install $(cat "$work/wanted")
}

# `versionlock add` ends well for a package that it does not find, so the locks are read back.
lock() {
  [ -n "$HOLD" ] || return 0
  [ -e /etc/dnf/plugins/versionlock.list ] || patiently run_dnf install python3-dnf-plugin-versionlock
  for name in $HOLD; do
    patiently run_dnf versionlock add "$name"
    lock=$(rpm -q --qf '%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.*' "$name")
    grep -qxF -e "$lock" /etc/dnf/plugins/versionlock.list || { echo "$name is not locked at its version" >&2; return 1; }
  done
}

# An interrupted transaction leaves two versions of a package. Kernels and keys are installed side by side on purpose.
is_interrupted() {
  rpm -qa --qf '%{NAME}.%{ARCH}\n' | grep -vE '^(kernel|gpg-pubkey)' | sort | uniq -d | grep -q .
}

if [ -n "$UNPACK" ]; then
  echo "packages of a later version cannot be downloaded beforehand with dnf yet" >&2
  exit 1
fi
wait_for_cloud_init
import_keys
if is_interrupted; then patiently run_dnf remove --duplicates; fi
if [ -n "$PACKAGES" ]; then
  update_needed
  unlock
  select_versions
  patiently install
fi
lock
