# uses: host/packages/package-transaction.sh
# given: rpm dnf
# One dnf transaction: finishes an interrupted one, installs, holds. Waits for other package tools and never kills them.
# PACKAGES: lines "name version" (version "any": the newest). OPTIONAL: names, installed along when a repository has
# them. HOLD: names held afterwards. SOURCES: files of yum.repos.d that have the packages; their metadata is fetched
# first. UNPACK: a path; then the packages are only downloaded, and kubeadm's program is unpacked to it. Empty: they are
# installed. PROXY: URL of the proxy for all repositories that name none; may be empty. KEYS: see rpm/functions.sh. The
# functions of host/packages/rpm/functions.sh, of host/packages/package-transaction.sh and of host/packages/rhel/dnf4.sh
# or host/packages/rhel/dnf5.sh, which also set CACHE, the folder of dnf's cache, stand before this script.
export LC_ALL=C
printf '%s\n' "$CACHE" >downloads || :

update_needed() {
  for source in $SOURCES; do
    name=$(id_of "$source")
    doing "dnf makecache --repo $name"
    patiently run_dnf --refresh --repo "$name" makecache || return 1
  done
}
update_all() {
  doing "dnf makecache from all repositories of the host"
  patiently run_dnf --refresh makecache
}

# Makes $work/wanted, the arguments for dnf install (dnf finds `name-version` in whatever release), and $work/missing,
# the exact versions that no repository has, by the metadata on the host. Fails when one is missing. A version lock and
# an exclude of the host's own hide packages from `install`, and not from this list.
select_versions() {
  : >"$work/wanted"
  : >"$work/missing"
  while read -r name version; do
    case $version in
      '') ;;
      any) echo "$name" >>"$work/wanted" ;;
      *)
        echo "$name-$version" >>"$work/wanted"
        known=$(query -C "$name-$version" 2>/dev/null) || known=
        [ -n "$known" ] || echo "$name $version" >>"$work/missing"
        ;;
    esac
  done <<END
$PACKAGES
END
  [ ! -s "$work/missing" ] || return 1
  for name in $OPTIONAL; do
    if rpm -q "$name" >/dev/null 2>&1; then continue; fi
    if [ -n "$(query "$name" || :)" ]; then echo "$name" >>"$work/wanted"; fi
  done
}

# Versions of a package that the repositories have, newest last.
versions_of() { known_versions "$1" 2>/dev/null | sort -uV | tr '\n' ' '; }

explain() {
  while read -r name version; do
    if [ -n "$(query_excluded -C "$name-$version" 2>/dev/null)" ]; then
      echo "$name $version is excluded by the settings of dnf on this host (exclude= in /etc/dnf/dnf.conf or in a" \
        "repository)" >&2
    else
      echo "$name $version is in no repository of this host; there is: $(versions_of "$name")" >&2
    fi
  done <"$work/missing"
}

# A version lock hides all other versions of a package from dnf, so it ends before the transaction.
unlock() {
  has_locks || return 0
  for name in $HOLD; do patiently run_dnf versionlock delete "$name" >/dev/null; done
}

install() {
  doing "dnf install $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046,SC2086 # names and versions have no blanks; an option or none
  run_dnf $keep install $(cat "$work/wanted")
}

# Locks keep no package from being downloaded; they stay.
download() {
  doing "dnf install --downloadonly $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  run_without_locks --setopt=keepcache=True install --downloadonly $(cat "$work/wanted")
}

# dnf does not download again what is installed already.
unpack_kubeadm() {
  version=$(sed -n 's/^kubeadm-//p' "$work/wanted")
  mkdir -p "$(dirname "$UNPACK")"
  if [ "$(rpm -q --qf '%{VERSION}' kubeadm 2>/dev/null)" = "$version" ]; then
    cp /usr/bin/kubeadm "$UNPACK"
    return
  fi
  for archive in "$CACHE"/*/packages/kubeadm-"$version"-*.rpm; do
    [ -e "$archive" ] || { echo "kubeadm $version was not downloaded" >&2; return 1; }
    unpack_program "$archive"
  done
}

# `versionlock add` ends well for a package that it does not find, so the locks are read back.
lock() {
  [ -n "$HOLD" ] || return 0
  prepare_locks
  for name in $HOLD; do
    patiently run_dnf versionlock add "$name"
    is_at_lock "$name" || { echo "$name is not locked at its version" >&2; return 1; }
  done
}

# Locks what is installed of the names again, after a transaction that failed.
lock_again() {
  has_locks || return 0
  for name in $HOLD; do
    if rpm -q "$name" >/dev/null 2>&1; then patiently run_dnf versionlock add "$name" || :; fi
  done
}

wait_for_cloud_init
import_keys
if is_interrupted; then remove_duplicates; fi
if [ -n "$PACKAGES" ]; then
  select_versions || { update_needed && select_versions; } || { update_all && select_versions; } || { explain; exit 1; }
  if [ -n "$UNPACK" ]; then
    patiently download || { update_all && patiently download; }
    unpack_kubeadm
    exit 0
  fi
  # What an upgrade has downloaded beforehand stays until its last package, the kubelet, is installed.
  keep=
  case $PACKAGES in *kubelet*) ;; *kubeadm*) keep=--setopt=keepcache=True ;; esac
  unlock
  # Metadata that was fetched long ago names files that are gone.
  patiently install || { update_all && patiently install; } || { lock_again; exit 1; }
  if [ -z "$keep" ]; then rm -f "$CACHE"/kbuild-*/packages/*.rpm; fi
fi
lock
