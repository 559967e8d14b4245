# shellcheck shell=sh disable=SC2154  # parameters come from outside
# uses: host/packages/program-files.sh
# given: downloader
# Installs published programs. DOWNLOADS: lines NAME VERSION KIND FOLDER FILE URL PROOF SIGNATURE: the package NAME has
# the file at URL. KIND `program`: it becomes FOLDER/FILE; `archive`: its programs go to FOLDER. PROOF: `sha256:` and
# the checksum of the file, or the URL of a text with it. SIGNATURE `auto`: the signature beside the file is verified if
# cosign is there; `required`: without cosign nothing is installed; `none`. IDENTITY, ISSUER: whose signature it must
# be. PROGRAMS: the folder of records. RESTART: units that are restarted if they run. UNPACK: a path; then files are
# only downloaded, and kubeadm is copied to it. PROXY, HTTPS_PROXY, NO_PROXY: the way out; may be empty. The functions
# of program-files.sh and of a download.sh stand before this script.
if [ -n "$PROXY" ]; then export http_proxy="$PROXY"; fi
if [ -n "$HTTPS_PROXY" ]; then export https_proxy="$HTTPS_PROXY"; fi
export no_proxy="$NO_PROXY"

doing() { echo "$*" >doing || :; }

# Files that arrived and are what they should be, named by their checksums.
store=$PROGRAMS/.downloads
mkdir -p -- "$store"
# The user that downloads may be another one: root writes nothing there.
incoming=$(mktemp -d)
# For root alone: what is read here decides what is installed.
unpacked=$(mktemp -d -p "$store")
# What is printed about signatures comes last: while the job runs, its output is told as what it does.
: >"$unpacked/said"
trap 'cat "$unpacked/said"; rm -rf -- "$incoming" "$unpacked"' EXIT
echo "$incoming" >downloads || :

sum() {
  found=$(sha256sum <"$1")
  echo "${found%% *}"
}

# Downloads $1 to $incoming/$2. $3: what a failure means; may be missing.
fetch() {
  doing "download $1"
  rm -f -- "$incoming/$2"
  if ! download 4 30 0 "$1" "$incoming/$2" >/dev/null 2>"$unpacked/error"; then
    echo "$1 cannot be downloaded: $(download_error "$unpacked/error")${3:+. $3}" >&2
    exit 1
  fi
}

# Sets `wanted` to the checksum of the file at the URL $1 after its proof $2. Projects publish a bare checksum, or lines
# with the names of files.
prove() {
  case $2 in
    sha256:*) wanted=${2#sha256:} ;;
    *)
      fetch "$2" sums
      wanted=$(awk -v name="${1##*/}" '
        { file = $2; sub(/^\*/, "", file); sub(/.*\//, "", file) }
        NF == 1 { bare = $1; count++ }
        NF > 1 && file == name { print $1; exit }
        END { if (NR == 1 && count == 1) print bare }' "$incoming/sums")
      if ! expr "X$wanted" : 'X[0-9a-fA-F]\{64\}$' >/dev/null; then
        echo "$2 has no SHA-256 of ${1##*/}" >&2
        exit 1
      fi
      wanted=$(echo "$wanted" | tr A-F a-f)
      ;;
  esac
}

# Sets `file` to the file of the store that has the checksum `wanted`, after it came from the URL $1.
arrive() {
  file=$store/$wanted
  if [ -e "$file" ] && [ "$(sum "$file")" = "$wanted" ]; then return 0; fi
  fetch "$1" file
  # The copy belongs to root alone before it is compared.
  cp -- "$incoming/file" "$file.new"
  rm -f -- "$incoming/file"
  arrived=$(sum "$file.new")
  if [ "$arrived" != "$wanted" ]; then
    rm -f -- "$file.new"
    echo "$1 is not the file that its checksum names (found $arrived, expected $wanted): nothing was installed" >&2
    exit 1
  fi
  mv -f -- "$file.new" "$file"
}

# Verifies the signature of `file`, which came from the URL $1, as $2 (SIGNATURE) says. A signature that cosign cannot
# verify, whatever the reason, e.g. that Sigstore cannot be reached, is no signature.
verify() {
  if [ "$2" = none ]; then return 0; fi
  if ! command -v cosign >/dev/null; then
    if [ "$2" = required ]; then
      echo "$1 must be verified with cosign, which this host does not have: nothing was installed. Install" \
        "cosign, or set downloads.kubernetes.signatures: auto" >&2
      exit 1
    fi
    echo "$1: the checksum was compared; no signature was verified, because this host has no cosign" >>"$unpacked/said"
    return 0
  fi
  for part in sig cert; do
    fetch "$1.$part" "$part" "cosign is on this host, and the signature of $1 is unknown: nothing was installed. If this source has no signatures, set downloads.kubernetes.signatures: off"
  done
  doing "verify the signature of $1"
  # cosign ends by itself after 3 minutes. It keeps Sigstore's keys in the folder of root.
  if ! HOME="${HOME:-/root}" timeout 300 cosign verify-blob "$file" --signature "$incoming/sig" --certificate "$incoming/cert" \
    --certificate-identity "$IDENTITY" --certificate-oidc-issuer "$ISSUER" >"$unpacked/cosign" 2>&1; then
    rm -f -- "$file"
    echo "cosign does not verify $1: $(grep . "$unpacked/cosign" | tail -n 1). Nothing was installed. cosign must" \
      "reach Sigstore (tuf-repo-cdn.sigstore.dev, rekor.sigstore.dev): run cosign initialize on this host" >&2
    exit 1
  fi
  echo "$1: cosign verified the signature of $IDENTITY" >>"$unpacked/said"
}

# Makes $unpacked/plan of lines NAME VERSION SOURCE TARGET, one for each program.
: >"$unpacked/plan"
: >"$unpacked/used"
while read -r name version kind folder program url proof signature; do
  [ -n "$name" ] || continue
  prove "$url" "$proof"
  arrive "$url"
  verify "$url" "$signature"
  echo "$file" >>"$unpacked/used"
  if [ "$kind" = program ]; then
    echo "$name $version $file $folder/$program" >>"$unpacked/plan"
    continue
  fi
  tree=$unpacked/$program
  mkdir -p -- "$tree"
  tar -C "$tree" --no-same-owner -xzf "$file"
  # Archives hold texts, too.
  find "$tree" -type f -perm -u+x | sort | while read -r source; do
    echo "$name $version $source $folder/${source##*/}"
  done >>"$unpacked/plan"
  if ! grep -q "^$name $version $tree/" "$unpacked/plan"; then
    echo "$url holds no program" >&2
    exit 1
  fi
done <<END
$DOWNLOADS
END

if [ -n "$UNPACK" ]; then
  mkdir -p -- "$(dirname -- "$UNPACK")"
  cp -- "$(sed -n 's/^kubeadm [^ ]* \([^ ]*\) .*/\1/p' "$unpacked/plan")" "$UNPACK"
  chmod 0755 "$UNPACK"
  exit 0
fi

# What kbuild did not put there stays.
while read -r name version source target; do
  if { [ -e "$target" ] || [ -L "$target" ]; } && ! recorded "$name" | grep -qxF -e "$target"; then
    echo "$target is there already, and kbuild did not install it: remove it, or the package that brought it" >&2
    exit 1
  fi
done <"$unpacked/plan"

# Prints a record. Before the files are in their places it names them without what they are, so that a run that is cut
# off leaves a record that is not true yet.
record() {
  awk -v name="$1" '$1 == name { print $2; exit }' "$unpacked/plan"
  awk -v name="$1" '$1 == name { print $4 }' "$unpacked/plan" | while read -r path; do
    if [ "$2" = final ]; then stat -c '%s %Y %n' -- "$path"; else echo "0 0 $path"; fi
  done
  if [ "$2" != final ]; then recorded "$1" | sed 's/^/0 0 /'; fi
}
note() {
  record "$1" "$2" >"$PROGRAMS/.record"
  sync -- "$PROGRAMS/.record"
  mv -fT -- "$PROGRAMS/.record" "$PROGRAMS/$1"
}

for name in $(awk '!said[$1]++ { print $1 }' "$unpacked/plan"); do
  doing "install $name"
  before=$(recorded "$name")
  note "$name" begun
  while read -r each _ source target; do
    [ "$each" = "$name" ] || continue
    mkdir -p -- "${target%/*}"
    new=$(unfinished "$target")
    # A rename: a program that runs cannot be written, and one that is cut off must not run.
    cp -- "$source" "$new"
    chmod 0755 "$new"
    if command -v chcon >/dev/null && [ -e /sys/fs/selinux/enforce ]; then restorecon -F "$new" 2>/dev/null || :; fi
    sync -- "$new"
    mv -fT -- "$new" "$target"
    if [ -e /sys/fs/selinux/enforce ]; then restorecon -F "$target" 2>/dev/null || :; fi
  done <"$unpacked/plan"
  # What the version before had, and this one has not.
  for path in $before; do
    if ! awk -v path="$path" '$4 == path { found = 1 } END { exit !found }' "$unpacked/plan"; then rm -f -- "$path"; fi
  done
  note "$name" final
done
for file in $(sort -u "$unpacked/used"); do rm -f -- "$file"; done
systemctl daemon-reload
for unit in $RESTART; do systemctl try-restart "$unit" || :; done
