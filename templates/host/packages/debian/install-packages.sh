# uses: host/packages/package-transaction.sh
# One apt transaction: finishes an interrupted one, installs, holds. Waits for other package tools and never kills them.
# PACKAGES: lines "name version" (version "any": the candidate). OPTIONAL: names, installed along when a repository has
# them. HOLD: names held afterwards. SOURCES: files of sources.list.d that have the packages; their lists are fetched
# first. UNPACK: a path; then the packages are only downloaded, and kubeadm's program is unpacked to it. Empty: they are
# installed. The functions of host/packages/package-transaction.sh and LOCK_SECONDS stand before this script.
export DEBIAN_FRONTEND=noninteractive DEBIAN_PRIORITY=critical NEEDRESTART_SUSPEND=1 APT_LISTCHANGES_FRONTEND=none LC_ALL=C
# Where downloads grow, for job.sh.
printf '%s\n' /var/cache/apt/archives /var/lib/apt/lists >downloads || :

# apt-get's own options; held packages may change because this script alone decides their version.
get() {
  apt-get -q -y -o DPkg::Lock::Timeout="$LOCK_SECONDS" -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
    -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"
}

# Prints the holders of the locks of dpkg and apt. They are fcntl locks, which flock(1) cannot see.
holders() {
  for lock in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
    inode=$(stat -c %i "$lock" 2>/dev/null) || continue
    pid=$(awk -v suffix=":$inode" 'substr($6, length($6) - length(suffix) + 1) == suffix { print $5; exit }' /proc/locks)
    [ -z "$pid" ] || echo "$lock is held by process $pid ($(cat "/proc/$pid/comm" 2>/dev/null || echo gone))"
  done
}

# apt; apt 3 after its own timeout; dpkg ("by another process", since 1.22 "by /usr/bin/apt process").
is_locked() { grep -q -e 'Could not get lock' -e 'is another process using it' -e 'lock was locked by' "$2"; }

update_needed() {
  for source in $SOURCES; do
    case $source in /*) file=$source ;; *) file=/etc/apt/$source ;; esac
    doing "apt-get update from $(grep -o 'https\{0,1\}://[^ ]*' "$file" 2>/dev/null | head -n 1 || :)"
    patiently get update -o Dir::Etc::sourcelist="$source" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 \
      -o APT::Update::Error-Mode=any || return 1
  done
}
update_all() {
  doing "apt-get update from all repositories of the host"
  patiently get update
}

# The newest version of a package in the cache that means the wanted upstream version.
resolve() {
  apt-cache madison "$1" | awk -v wanted="$2" '
    { version = $3; upstream = version; sub(/^[0-9]+:/, "", upstream); rest = substr(upstream, length(wanted) + 1) }
    version == wanted || (index(upstream, wanted) == 1 && (rest == "" || rest ~ /^([-+]|~ds)/)) { print version; exit }'
}

# Makes $work/wanted, the arguments for apt-get install, from what the cache has; fails when that is not enough.
select_versions() {
  : >"$work/wanted"
  : >"$work/missing"
  while read -r name version; do
    [ -n "$name" ] || continue
    if [ "$version" = any ]; then
      echo "$name" >>"$work/wanted"
      continue
    fi
    exact=$(resolve "$name" "$version")
    if [ -n "$exact" ]; then echo "$name=$exact" >>"$work/wanted"; else echo "$name $version" >>"$work/missing"; fi
  done <<END
$PACKAGES
END
  [ ! -s "$work/missing" ] || return 1
  for name in $OPTIONAL; do
    if apt-cache policy "$name" | grep -q '^  Candidate: [^(]'; then echo "$name" >>"$work/wanted"; fi
  done
  # shellcheck disable=SC2046 # names and versions have no blanks
  get install -s --no-install-recommends --allow-change-held-packages --allow-downgrades $(cat "$work/wanted") \
    >"$work/simulation" 2>&1
}

install() {
  doing "apt-get install $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  get install --no-install-recommends --allow-change-held-packages --allow-downgrades $(cat "$work/wanted")
}

download() {
  doing "apt-get install --download-only $(tr '\n' ' ' <"$work/wanted")"
  # shellcheck disable=SC2046 # names and versions have no blanks
  get install --download-only --no-install-recommends --allow-change-held-packages --allow-downgrades $(cat "$work/wanted")
}

# apt does not download again what is installed already.
unpack_kubeadm() {
  version=$(sed -n 's/^kubeadm=//p' "$work/wanted")
  mkdir -p "$(dirname "$UNPACK")"
  if [ "$(dpkg-query -W -f '${Version}' kubeadm 2>/dev/null)" = "$version" ]; then
    cp /usr/bin/kubeadm "$UNPACK"
    return
  fi
  for archive in "/var/cache/apt/archives/kubeadm_$(echo "$version" | sed 's/:/%3a/g')"_*.deb; do
    dpkg-deb --fsys-tarfile "$archive" | tar -xO ./usr/bin/kubeadm >"$UNPACK"
  done
  chmod 0755 "$UNPACK"
}

explain() {
  while read -r name version; do
    echo "$name $version is in no repository of this host; there is:" \
      "$(apt-cache madison "$name" | awk '{ printf "%s ", $3 }')" >&2
  done <"$work/missing"
  if [ ! -s "$work/missing" ]; then cat "$work/simulation" >&2; fi
}

# Packages whose files may be anything, because dpkg was killed over them.
torn() {
  dpkg-query -W -f '${db:Status-Eflag} ${Package}=${Version}\n' | awk '$1 == "reinstreq" { sub(/=$/, "", $2); print $2 }'
}

reinstall_torn() {
  # shellcheck disable=SC2046 # names and versions have no blanks
  patiently get install --reinstall --no-install-recommends --allow-change-held-packages $(torn)
}

wait_for_cloud_init
patiently dpkg --configure -a --force-confdef --force-confold
if [ -n "$(torn)" ]; then reinstall_torn || { update_all && reinstall_torn; }; fi
if dpkg-query -W -f '${db:Status-Status}\n' | grep -q -e '^half-' -e '^unpacked$'; then patiently get -f install; fi

if [ -n "$PACKAGES" ]; then
  select_versions || { update_needed && select_versions; } || { update_all && select_versions; } || { explain; exit 1; }
  if [ -n "$UNPACK" ]; then
    patiently download || { update_all && select_versions && patiently download; }
    unpack_kubeadm
    exit 0
  fi
  # Lists that were fetched long ago name files that are gone.
  patiently install || { update_all && select_versions && patiently install; }
fi
for name in $HOLD; do patiently apt-mark hold "$name"; done
