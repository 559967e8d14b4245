# uses: host/packages/rpm/functions.sh host/packages/suse/zypper.sh host/packages/package-transaction.sh
# One zypper transaction: finishes an interrupted one, installs, holds. Waits for other package tools and never kills
# them. PACKAGES: lines "name version" (version "any": the installed one, or the newest). OPTIONAL: names, installed
# along when a repository has them. HOLD: names held afterwards. SOURCES: files of repos.d that have the packages; their
# metadata is fetched first. UNPACK: a path; then the packages are only downloaded, and kubeadm's program is unpacked to
# it. Empty: they are installed. HTTP_PROXY_URL, HTTPS_PROXY_URL, NO_PROXY_HOSTS: the proxy for repositories that name
# none; may be empty. KEYS: see rpm/functions.sh. The functions of host/packages/rpm/functions.sh,
# host/packages/suse/zypper.sh and host/packages/package-transaction.sh stand before this script.
printf '%s\n' /var/cache/zypp/packages >downloads || :
if [ -n "$HTTP_PROXY_URL" ]; then export http_proxy="$HTTP_PROXY_URL"; fi
if [ -n "$HTTPS_PROXY_URL" ]; then export https_proxy="$HTTPS_PROXY_URL"; fi
if [ -n "$NO_PROXY_HOSTS" ]; then export no_proxy="$NO_PROXY_HOSTS"; fi

# Refreshes these repositories, all without a name. zypper says on stdout why it trusts one no more: $work/distrust gets
# that.
refresh() {
  failed=0
  run_zypper refresh "$@" >"$work/said" || failed=$?
  cat "$work/said"
  : >"$work/distrust"
  if [ "$failed" -ne 0 ]; then
    sed -nE 's/^ *(Warning: )?(.*(modified after it has been signed|New repository or package signing key received|Digest verification failed).*)/\2/p' \
      "$work/said" >"$work/distrust"
  fi
  return "$failed"
}
update_needed() {
  for source in $SOURCES; do
    name=$(id_of "$source")
    doing "zypper refresh $name"
    patiently refresh "$name" || return 1
  done
}
# One of the host's repositories that does not answer is no reason to stop: the others may have the packages.
update_all() {
  doing "zypper refresh all repositories of the host"
  patiently refresh || echo 'zypper refresh failed for a repository of this host; the packages may be in the others'
}

# Writes the packages of these names that the repositories have to $work/offers: lines "name edition", an edition is
# [EPOCH:]VERSION-RELEASE. 104: there is none.
search() {
  ended=0
  run_zypper -q -x --no-refresh search -s --match-exact -t package "$@" >"$work/answer" || ended=$?
  case $ended in 0 | 104) ;; *) cat "$work/answer" >&2; return "$ended" ;; esac
  sed -n 's/.*<solvable .* name="\([^"]*\)".* edition="\([^"]*\)".*/\1 \2/p' "$work/answer" >"$work/offers"
}
editions_of() { sed -n "s/^$1 //p" "$work/offers" | sort -uV; }
version_of() { echo "$1" | sed 's/^[0-9]*://; s/-[^-]*$//'; }

# Makes $work/wanted, the arguments for zypper install, from the metadata on the host, and $work/missing, what no
# repository has; fails when something is missing. zypper takes a version only with its epoch. `install` of an installed
# package upgrades it.
select_versions() {
  : >"$work/wanted"
  : >"$work/missing"
  # shellcheck disable=SC2046,SC2086 # names have no blanks
  patiently search $(echo "$PACKAGES" | sed 's/ .*//') $OPTIONAL || return 1
  while read -r name version; do
    case $version in
      '') ;;
      any)
        if rpm -q "$name" >/dev/null 2>&1; then continue; fi
        if [ -n "$(editions_of "$name")" ]; then echo "$name" >>"$work/wanted"; else echo "$name $version" >>"$work/missing"; fi
        ;;
      *)
        exact=
        for edition in $(editions_of "$name"); do
          if [ "$(version_of "$edition")" = "$version" ]; then exact=$edition; fi
        done
        if [ -n "$exact" ]; then echo "$name=$exact" >>"$work/wanted"; else echo "$name $version" >>"$work/missing"; fi
        ;;
    esac
  done <<END
$PACKAGES
END
  [ ! -s "$work/missing" ] || return 1
  for name in $OPTIONAL; do
    if rpm -q "$name" >/dev/null 2>&1; then continue; fi
    if [ -n "$(editions_of "$name")" ]; then echo "$name" >>"$work/wanted"; fi
  done
}

explain() {
  while read -r name version; do
    echo "$name $version is in no repository of this host; there is: $(editions_of "$name" | tr '\n' ' ')" >&2
  done <"$work/missing"
  if [ -e "$work/distrust" ]; then cat "$work/distrust" >&2; fi
}

# Names and patterns that are locked.
locks() { sed -n 's/^solvable_name: *//p' /etc/zypp/locks 2>/dev/null || :; }

# A lock of a package also keeps it from being removed, and so from another version: it ends before the transaction.
# shellcheck disable=SC2086 # a list
unlock() { [ -z "$HOLD" ] || patiently run_zypper removelock $HOLD >/dev/null; }

# Says which lock of the host's own hides a package.
explain_locks() {
  locks | while read -r lock; do
    echo "$PACKAGES" | while read -r name _; do
      # shellcheck disable=SC2254 # a pattern
      case $name in $lock) echo "$name is locked by the settings of zypper on this host ($lock in /etc/zypp/locks)" >&2 ;; esac
    done
  done
}

# Without --oldpackage zypper installs no older version, says so, and ends with 0.
install() {
  doing "zypper install $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  run_zypper --no-refresh install --auto-agree-with-licenses --no-recommends --oldpackage $(cat "$work/wanted")
}

# zypper ends with 0 in more cases than one in which it has installed nothing.
verify_installed() {
  while read -r name version; do
    [ -n "$name" ] || continue
    found=$(rpm -q --qf '%{VERSION}' "$name" 2>/dev/null) || found=none
    if [ "$found" = none ] || { [ "$version" != any ] && [ "$found" != "$version" ]; }; then
      echo "zypper ended without an error, and did not install $name $version (found $found)" >&2
      return 1
    fi
  done <<END
$PACKAGES
END
}

# Other than `install`, `download` goes on where a package is locked.
download() {
  doing "zypper download $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  run_zypper --no-refresh download $(cat "$work/wanted")
}

unpack_kubeadm() {
  version=$(sed -n 's/^kubeadm=//p' "$work/wanted")
  version=$(version_of "$version")
  mkdir -p "$(dirname "$UNPACK")"
  if [ "$(rpm -q --qf '%{VERSION}' kubeadm 2>/dev/null)" = "$version" ]; then
    cp /usr/bin/kubeadm "$UNPACK"
    return
  fi
  archive=$(find /var/cache/zypp/packages -name "kubeadm-$version-*.rpm" | head -n 1)
  if [ -z "$archive" ]; then
    echo "kubeadm $version was not downloaded" >&2
    return 1
  fi
  unpack_program "$archive"
}

lock() {
  [ -n "$HOLD" ] || return 0
  # shellcheck disable=SC2086 # a list
  patiently run_zypper addlock $HOLD
  for name in $HOLD; do
    locks | grep -qxF -e "$name" || { echo "$name is not locked" >&2; return 1; }
  done
}

# Locks what is installed of the names again, after a transaction that failed.
lock_again() {
  for name in $HOLD; do
    if rpm -q "$name" >/dev/null 2>&1; then patiently run_zypper addlock "$name" || :; fi
  done
}

# Removes the older of two installed versions of a package: rpm has installed the newer one whole before it was
# interrupted. Status 7, as zypper's, while another program works on packages.
remove_older() {
  [ -z "$(holders)" ] || return 7
  for name in $(installed_twice); do
    rpm -q --qf '%{INSTALLTIME} %{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.%{ARCH}\n' "${name%.*}" | sort -n | sed '$d' |
      while read -r _ older; do rpm -e --nodeps "$older"; done || return 1
  done
}

wait_for_cloud_init
import_keys
if is_interrupted; then patiently remove_older; fi
if [ -n "$PACKAGES" ]; then
  select_versions || { update_needed && select_versions; } || { update_all && select_versions; } || { explain; exit 1; }
  if [ -n "$UNPACK" ]; then
    patiently download || { update_all && patiently download; }
    unpack_kubeadm
    exit 0
  fi
  if [ -s "$work/wanted" ]; then
    unlock
    # Metadata that was fetched long ago names files that are gone.
    patiently install || { update_all && select_versions && patiently install; } || { lock_again; explain_locks; exit 1; }
  fi
  verify_installed || { lock_again; exit 1; }
  # What an upgrade has downloaded beforehand stays until its last package, the kubelet, is installed.
  case $PACKAGES in *kubelet*) rm -f /var/cache/zypp/packages/kbuild-*/*/*.rpm /var/cache/zypp/packages/kbuild-*/*.rpm ;; esac
fi
lock
